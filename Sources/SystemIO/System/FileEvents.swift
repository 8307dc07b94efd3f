/// A change that the system reports of a watched directory, or of an entry in it.
package struct FileEvent: Sendable {
    /// The number of the watch. Negative if the event concerns all watches: then events were lost, or something was
    /// mounted or unmounted somewhere.
    package let watch: CInt
    package let changes: FileEventMask
    /// The number that the two events of a rename have in common, or 0.
    package let cookie: UInt32
    /// The name of the entry. `nil` if the event concerns the directory itself.
    package let name: RelativePath?

    package init(_ watch: CInt, _ changes: FileEventMask, cookie: UInt32 = 0, name: RelativePath? = nil) {
        self.watch = watch
        self.changes = changes
        self.cookie = cookie
        self.name = name
    }
}

/// The changes of a watched directory or of an entry in it, as the bits of inotify.
package struct FileEventMask: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let modified = Self(rawValue: 0x2)
    package static let attributes = Self(rawValue: 0x4)
    package static let movedFrom = Self(rawValue: 0x40)
    package static let movedTo = Self(rawValue: 0x80)
    package static let created = Self(rawValue: 0x100)
    package static let deleted = Self(rawValue: 0x200)
    /// The watched directory itself has been removed, or renamed.
    package static let selfDeleted = Self(rawValue: 0x400)
    package static let selfMoved = Self(rawValue: 0x800)
    /// The file system of the watched directory has been unmounted.
    package static let unmounted = Self(rawValue: 0x2000)
    /// Events were lost, because nobody read them in time.
    package static let overflow = Self(rawValue: 0x4000)
    /// The watch has ended. It is the last event of the watch.
    package static let ignored = Self(rawValue: 0x8000)
    /// The entry is a directory.
    package static let isDirectory = Self(rawValue: 0x4000_0000)

    /// The changes of the names in a directory, and of the directory itself.
    package static let ofNames: Self = [.created, .deleted, .movedFrom, .movedTo, .selfDeleted, .selfMoved]
    /// The changes of `ofNames`, and those of the files with these names.
    package static let ofFiles: Self = ofNames.union(ofContents)
    /// The changes of a file, but not of its name.
    package static let ofContents: Self = [.modified, .attributes]
    /// The changes that remove or replace an entry.
    package static let ofReplacement: Self = [.deleted, .movedTo]
}

/// The source of the changes of watched directories: an inotify instance, or a simulated one.
package protocol FileEventSource: AnyObject {
    /// Called when events wait, and again until they are read. A call may come outside of a turn.
    var onEvents: () -> Void { get set }
    /// Called when the loop is being shut down.
    var onEnd: () -> Void { get set }
    /// The object that adds watches.
    var watcher: any DirectoryWatcher { get }
    /// Whether the source keeps the loop alive. At first, it does not.
    func keepAlive(_ isNeeded: Bool)
    /// Removes and returns the events that wait. Throws if no more will come.
    func takeEvents() throws(SystemError) -> [FileEvent]
    /// Ends a watch. Its events may still wait.
    func removeWatch(_ watch: CInt)
    func close()
}

/// An entry of a watched directory.
package struct WatchedPlace: Hashable, Sendable {
    package let watch: CInt
    package let name: RelativePath

    package init(watch: CInt, name: RelativePath) { (self.watch, self.name) = (watch, name) }
}

extension SystemError {
    /// The error when an open directory cannot be watched because /proc is not mounted.
    package static let missingDescriptors = SystemError(.notFound, "/proc/self/fd")
}

/// Adds watches to the source of events. Any thread may use it, and a call may block.
package protocol DirectoryWatcher: Sendable {
    /// Watches `directory` for `changes`, and returns the number of the watch. A directory that is watched already
    /// keeps its number, and also reports the changes that it was watched for before.
    func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt
    /// Watches the parent of `directory`, which reports when `directory` is removed or replaced. The watch of
    /// `directory` itself reports a removal only once no program has it open any more. Returns `nil` for the root, and
    /// if this user may not read the parent.
    func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace?
    /// Watches the file `name` of `directory` itself if it is a mount point: then the watch of `directory` reports no
    /// changes of the file. Otherwise, returns `nil`.
    func watchMounted(_ name: RelativePath, in directory: any DirectoryHandle) throws(SystemError) -> CInt?
    /// Returns all mounts, and those below `directory`.
    func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable)
}
