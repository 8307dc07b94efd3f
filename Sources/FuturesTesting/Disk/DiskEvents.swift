internal import UVFutures

/// The watches of a simulated disk, and the events that they have not told.
struct DiskEvents {
    /// The most events that wait, as in the system.
    private static let capacity = 16_384

    private typealias Watch = (number: CInt, changes: FileEventMask)

    /// The inodes that each source of events watches.
    private var watches: [UInt64: [UInt64: Watch]] = [:]
    private var waiting: [UInt64: [FileEvent]] = [:]
    private var lastWatch: CInt = 0
    private var lastCookie: UInt32 = 0

    /// The sources for which events wait, in the order of their numbers.
    var ready: [UInt64] { waiting.keys.sorted() }

    mutating func add(source: UInt64) { watches[source] = [:] }

    /// Watches the directory for `changes`, and for those for which it is watched already. Throws `EBADF` if the source
    /// has been closed.
    mutating func watch(
        _ inode: UInt64, for changes: FileEventMask, by source: UInt64
    ) throws(UVError) -> CInt {
        guard watches[source] != nil else { throw UVError(.badDescriptor, "inotify_add_watch") }
        if watches[source]![inode] == nil {
            lastWatch += 1
            watches[source]![inode] = (lastWatch, [])
        }
        watches[source]![inode]!.changes.formUnion(changes)
        return watches[source]![inode]!.number
    }

    mutating func removeWatch(_ watch: CInt, by source: UInt64) {
        guard let inode = watches[source]?.first(where: { $0.value.number == watch })?.key else { return }
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
            guard let watch = watches[source]![inode], watch.changes.contains(change) else { continue }
            let changes = isDirectory ? change.union(.isDirectory) : change
            tell(FileEvent(watch.number, changes, cookie: cookie, name: name), to: source)
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
        for source in watches.keys.sorted() {
            if let watch = watches[source]![inode] { removeWatch(watch.number, by: source) }
        }
    }

    private mutating func tell(_ event: FileEvent, to source: UInt64) {
        // As the system does with an event that is the same as the last one.
        if let last = waiting[source]?.last, last.watch == event.watch, last.changes == event.changes,
            last.name == event.name
        {
            return
        }
        let count = waiting[source]?.count ?? 0
        guard count < Self.capacity else {
            if waiting[source]!.last!.watch >= 0 { waiting[source]!.append(FileEvent(-1, .overflow)) }
            return
        }
        waiting[source, default: []].append(event)
    }
}
