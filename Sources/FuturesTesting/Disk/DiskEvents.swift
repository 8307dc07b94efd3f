internal import SystemIO

/// The watches of a simulated disk, and the events that have not been delivered.
struct DiskEvents {
    /// The largest number of waiting events, as in Linux.
    private static let capacity = 16_384

    private typealias Watch = (number: CInt, changes: FileEventMask)

    /// The inodes that each event source watches.
    private var watches: [UInt64: [UInt64: Watch]] = [:]
    private var waiting: [UInt64: [FileEvent]] = [:]
    private var lastWatch: CInt = 0
    private var lastCookie: UInt32 = 0

    /// The sources that have waiting events, in the order of their numbers.
    var ready: [UInt64] { waiting.keys.sorted() }

    mutating func add(source: UInt64) { watches[source] = [:] }

    /// Watches the directory for `changes`, in addition to those it is already watched for. Throws `EBADF` if the
    /// source has been closed.
    mutating func watch(
        _ inode: UInt64, for changes: FileEventMask, by source: UInt64
    ) throws(SystemError) -> CInt {
        guard watches[source] != nil else { throw SystemError(.badDescriptor, "inotify_add_watch") }
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

    /// Records a change of the entry `name`, or of the directory itself.
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

    /// Records that a directory no longer exists.
    mutating func deleted(_ inode: UInt64) {
        add(.selfDeleted, inode, nil)
        for source in watches.keys.sorted() {
            if let watch = watches[source]![inode] { removeWatch(watch.number, by: source) }
        }
    }

    private mutating func tell(_ event: FileEvent, to source: UInt64) {
        // Like Linux, merges an event with an identical last event.
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
