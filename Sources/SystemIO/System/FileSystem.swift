package import FoundationEssentials
package import Futures

/// What the files of a loop ask of its system.
package protocol FileLoopSystem {
    /// The files that the programs of the loop use.
    var fileSystem: any FileSystem { get }
    /// Runs a job that uses these files, off the loop: on a thread of the file pool, or in the simulation of it. Called
    /// on the loop's thread, also after the loop has been shut down: then the job only closes something.
    func runOnDisk(_ job: RemoteJob)
}

/// The files of a system, real or simulated. Every function of this protocol and of the handles below may block, so only
/// the threads of the file pool call it, or the loop's thread in a simulation. Any thread may call it.
///
/// An error has the name of the system call that failed as its operation. What is made of these calls, such as the
/// replacement of a file, is written above this seam, and is the same code on every system.
package protocol FileSystem: Sendable {
    /// Opens the directory at `path`, which may be absolute, and may lead through links. It may be opened for reading
    /// the names and for `sync`.
    func openDirectory(at path: String) throws(SystemError) -> any DirectoryHandle
}

/// An open file or directory. The last reference closes it, on any thread.
package protocol FileResource: AnyObject, Sendable {
    /// The descriptor, or `nil` in a simulation.
    var descriptor: CInt? { get }
    /// Closes the file, and reports what went wrong. Called once at most, and nothing is called after it.
    func close() throws(SystemError)
}

/// An open directory.
///
/// A `path` leads through directories and links, but never out of this directory: then the error is `EXDEV`. A `name` is
/// one component, is never followed if it is a link, and is neither `.` nor `..`.
package protocol DirectoryHandle: FileResource {
    /// Opens a regular file. Fails with `EISDIR` if it is a directory, and with `SystemError.Code.notSupported` if it is
    /// of any other kind.
    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any FileHandle
    /// Opens a directory. Without `followsLink`, fails with `ENOTDIR` if the last component is a link.
    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle
    /// Opens the directory `name`. Fails with `EXDEV` if something is mounted there, also of the same file system.
    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle
    /// Describes a file of any kind. Without `followsLink`, describes the last component also if it is a link.
    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation
    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError)
    /// Returns a new pass over the entries, from the first one.
    func makeListing() throws(SystemError) -> any DirectoryListing
    /// Waits until the entries of the directory are on the disk.
    func sync() throws(SystemError)

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError)
    /// Renames a file of any kind to `newName` in `target`, a directory of the same system. With `.replacing`, a file
    /// with the new name is replaced. Without, the error is `EEXIST`.
    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError)
    /// Removes an empty directory, or a file that is no directory.
    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError)
    /// Gives a file a second name. A link is not followed.
    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle)
        throws(SystemError)
    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(SystemError)
    func symbolicLinkTarget(_ name: RelativePath) throws(SystemError) -> String
    /// Makes a file without a name, open for reading and writing. Fails with `EOPNOTSUPP` if the file system cannot.
    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any FileHandle
    /// Gives a file without a name one. Fails with `EEXIST` if the name is taken.
    func link(unnamed file: any FileHandle, as name: RelativePath) throws(SystemError)
}

/// A pass over the entries of a directory. One thread at a time uses it.
package protocol DirectoryListing: AnyObject, Sendable {
    /// Returns the next entries, without `.` and `..`, in no order. Returns an empty array at the end.
    func next() throws(SystemError) -> [DirectoryEntry]
}

/// An open regular file. Several threads may use it at the same time.
package protocol FileHandle: FileResource {
    /// Reads at most `count` bytes, and fewer only at the end of the file, or if the system says so. Empty at the end.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data
    /// Writes some of `bytes`, at least one, and returns their number. `bytes` is not empty.
    func write(_ bytes: Data, at offset: Int) throws(SystemError) -> Int
    /// Writes some of `bytes` at the end of the file, wherever that is, and returns their number.
    func append(_ bytes: Data) throws(SystemError) -> Int
    func truncate(to size: Int) throws(SystemError)
    /// Waits until what was written is on the disk. With `dataOnly`, without the times of the file.
    func sync(dataOnly: Bool) throws(SystemError)
    func information() throws(SystemError) -> FileInformation
    /// When the file was made, in nanoseconds since 1970. 0 if the system does not keep it, or gives no number of a file
    /// twice.
    var birth: Int64 { get }
    func setPermissions(to permissions: UInt32) throws(SystemError)
    /// Takes or changes the lock of this open file over the whole file. Returns `false` if another open file holds a lock
    /// that excludes this one. Never waits for it.
    func tryLock(exclusive: Bool) throws(SystemError) -> Bool
    func unlock() throws(SystemError)
}

/// How a file is opened. Links are followed, also the last component, if they stay below the directory.
package struct FileOpening: Sendable {
    package enum Creation: Sendable { case never, ifMissing, always }

    package var reads = true
    package var writes = false
    /// Whether the file is made. With `.always`, the error is `EEXIST` if there is one, or a link.
    package var creation = Creation.never
    /// Whether an existing file is emptied.
    package var truncates = false
    /// The permissions of a file that is made, before the mask of the process.
    package var permissions: UInt32 = 0o666

    package init() {}
}
