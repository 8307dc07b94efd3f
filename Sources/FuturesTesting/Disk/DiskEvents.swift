internal import UVFutures

/// The watches of a simulated disk, and the events that they have not told.
struct DiskEvents {
    /// The most events that wait, as in the system.
    private static let capacity = 16_384

    /// The inodes that each source of events watches, with the number of the watch.
    private var watches: [UInt64: [UInt64: CInt]] = [:]
    private var waiting: [UInt64: [FileEvent]] = [:]
    private var lastWatch: CInt = 0
    private var lastCookie: UInt32 = 0

    /// The sources for which events wait, in the order of their numbers.
    var ready: [UInt64] { waiting.keys.sorted() }

    var isWatched: Bool { !watches.isEmpty }

    mutating func add(source: UInt64) { watches[source] = [:] }

    /// Watches the directory for all changes, whatever was asked for. Throws `EBADF` if the source has been closed.
    mutating func watch(_ inode: UInt64, by source: UInt64) throws(UVError) -> CInt {
        guard watches[source] != nil else { throw UVError(.badDescriptor, "inotify_add_watch") }
        if let watch = watches[source]![inode] { return watch }
        lastWatch += 1
        watches[source]![inode] = lastWatch
        return lastWatch
    }

    mutating func removeWatch(_ watch: CInt, by source: UInt64) {
        guard let inode = watches[source]?.first(where: { $0.value == watch })?.key else { return }
        watches[source]![inode] = nil
        tell(FileEvent(watch, .ignored), to: source)
    }

    mutating func remove(_ source: UInt64) { (watches[source], waiting[source]) = (nil, nil) }

    mutating func take(_ source: UInt64) -> [FileEvent] { waiting.removeValue(forKey: source) ?? [] }

    /// Notes a change of the entry `name`, or of the directory itself.
    mutating func add(
        _ change: FileEventMask, _ inode: UInt64, _ name: RelativePath?, isDirectory: Bool = false,
        cookie: UInt32 = 0
    ) {
        for source in watches.keys.sorted() {
            guard let watch = watches[source]![inode] else { continue }
            let changes = isDirectory ? change.union(.isDirectory) : change
            tell(FileEvent(watch, changes, cookie: cookie, name: name), to: source)
        }
    }

    mutating func addRename(
        _ directory: UInt64, _ name: RelativePath, _ target: UInt64, _ newName: RelativePath,
        isDirectory: Bool
    ) {
        lastCookie += 1
        add(.movedFrom, directory, name, isDirectory: isDirectory, cookie: lastCookie)
        add(.movedTo, target, newName, isDirectory: isDirectory, cookie: lastCookie)
    }

    /// Notes that a directory has gone.
    mutating func deleted(_ inode: UInt64) {
        add(.selfDeleted, inode, nil)
        add(.ignored, inode, nil)
        for source in watches.keys { watches[source]![inode] = nil }
    }

    private mutating func tell(_ event: FileEvent, to source: UInt64) {
        let count = waiting[source]?.count ?? 0
        guard count < Self.capacity else {
            if waiting[source]!.last!.watch >= 0 { waiting[source]!.append(FileEvent(-1, .overflow)) }
            return
        }
        waiting[source, default: []].append(event)
    }
}
