package import FoundationEssentials

/// The files of a system, real or simulated. The functions of this protocol and of the handles below work on any
/// thread, but may block. So only the threads of the file pool call them, or the loop's thread in a simulation.
///
/// The `operation` of an error is the system call that failed. Operations made of several calls, such as the
/// replacement of a file, are written above this protocol, and share their code on every system.
package protocol FileSystem: Sendable {
    /// Opens the directory at `path`, which may be absolute, and may lead through symlinks. The returned directory can
    /// be listed and synchronised.
    func openDirectory(at path: String) throws(SystemError) -> any DirectoryHandle
}

/// Returns what `body` returns, or `nil` if it finds nothing or fails with one of `codes`.
func ifThere<Value>(
    or codes: SystemError.Code..., body: () throws(SystemError) -> Value?
) throws(SystemError) -> Value? {
    do throws(SystemError) {
        return try body()
    } catch {
        if error.meansGone || codes.contains(error.code) { return nil }
        throw error
    }
}

extension SystemError {
    /// Whether the file is not at its path: it does not exist, is something else, or was renamed meanwhile.
    var meansGone: Bool {
        self != .missingDescriptors
            && [.notFound, .notDirectory, .tooManyLinks, .crossesDirectory].contains(code)
    }
}

/// An open file or directory. Releasing the last reference closes it, on any thread.
package protocol FileResource: AnyObject, Sendable {
    /// The descriptor, or `nil` in a simulation.
    var descriptor: CInt? { get }
    /// Closes the file, and throws if that fails. Called at most once, and last.
    func close() throws(SystemError)
}

/// An open directory.
///
/// A `path` leads through directories and symlinks. One that leads out of this directory fails with `EXDEV`. A `name`
/// is one component, but neither `.` nor `..`. If it is a symlink, it is not followed.
package protocol DirectoryHandle: FileResource {
    /// Opens a regular file. Fails with `EISDIR` if it is a directory, and with `SystemError.Code.notSupported` if it is
    /// of any other kind.
    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any FileHandle
    /// Opens a directory. Without `followsLink`, fails with `ENOTDIR` if the last component is a symlink.
    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle
    /// Opens the directory `name`. Fails with `EXDEV` at a mount point, even one of the same file system.
    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle
    /// Describes a file of any kind. Without `followsLink`, describes a symlink that is the last component itself.
    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation
    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError)
    /// Returns a new pass over the entries, from the first one.
    func makeListing() throws(SystemError) -> any DirectoryListing
    /// Waits until the entries of the directory are on the disk.
    func sync() throws(SystemError)

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError)
    /// Renames a file of any kind to `newName` in `target`, a directory of the same system. With `replacing`, replaces
    /// a file with the new name. Without it, fails with `EEXIST` if there is one.
    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError)
    /// Removes an empty directory if `isDirectory` is `true`, or else a file of another kind.
    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError)
    /// Gives a file a second name. A symlink is not followed.
    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle)
        throws(SystemError)
    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(SystemError)
    func symbolicLinkTarget(_ name: RelativePath) throws(SystemError) -> String
    /// Creates a file without a name, open for reading and writing. Fails with `EOPNOTSUPP` if the file system cannot.
    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any FileHandle
    /// Gives a name to a file without one. Fails with `EEXIST` if the name is taken.
    func link(unnamed file: any FileHandle, as name: RelativePath) throws(SystemError)
}

/// A pass over the entries of a directory. One thread at a time uses it.
package protocol DirectoryListing: AnyObject, Sendable {
    /// Returns the next entries, without `.` and `..`, in no particular order. Returns an empty array at the end.
    func next() throws(SystemError) -> [DirectoryEntry]
}

/// An open regular file. Several threads may use it at the same time.
package protocol FileHandle: FileResource {
    /// Reads at most `count` bytes. Returns fewer only at the end of the file, or if the system does. Empty at the end.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data
    /// Writes the first part of `bytes`, which must not be empty. Returns the number of bytes that were written.
    func write(_ bytes: Data, at offset: Int) throws(SystemError) -> Int
    /// Appends the first part of `bytes` to the file. Returns the number of bytes that were written.
    func append(_ bytes: Data) throws(SystemError) -> Int
    func truncate(to size: Int) throws(SystemError)
    /// Waits until all written bytes are on the disk. With `dataOnly`, does not wait for the times of the file.
    func sync(dataOnly: Bool) throws(SystemError)
    func information() throws(SystemError) -> FileInformation
    /// The creation time of the file, in nanoseconds since 1970. 0 if the system does not record it, or never reuses
    /// inode numbers.
    var birth: Int64 { get }
    func setPermissions(to permissions: UInt32) throws(SystemError)
    /// Acquires or changes the lock that this open file has on the whole file. Returns `false`, without waiting, if
    /// another open file holds a conflicting lock.
    func tryLock(exclusive: Bool) throws(SystemError) -> Bool
    func unlock() throws(SystemError)
}

/// The way in which a file is opened. Symlinks that stay below the directory are followed, even as the last component.
package struct FileOpening: Sendable {
    package enum Creation: Sendable { case never, ifMissing, always }

    package var reads = true
    package var writes = false
    /// Whether the file is created. With `.always`, fails with `EEXIST` if a file or a symlink is there.
    package var creation = Creation.never
    /// Whether an existing file is emptied.
    package var truncates = false
    /// The permissions of a created file, before the umask of the process is applied.
    package var permissions: UInt32 = 0o666

    /// Opens an existing file for reading.
    package static let reading = FileOpening()
}
