internal import SystemIO

/// The events of watched directories of a simulated disk.
final class SimulatedFileEvents: SimulatedHandle, FileEventSource {
    var onEvents: () -> Void = {}
    var onEnd: () -> Void = {}
    private let store: DiskStore
    var watcher: any DirectoryWatcher { SimulatedWatcher(source: number) }

    init(_ driver: VirtualDriver) {
        store = driver.host.disk.store
        super.init(driver)
        store.with { $0.events.add(source: number) }
    }

    func keepAlive(_ isNeeded: Bool) {}

    func takeEvents() -> [FileEvent] { store.with { $0.events.take(number) } }

    func removeWatch(_ watch: CInt) { store.with { $0.events.removeWatch(watch, by: number) } }

    /// Notifies the program that events are waiting.
    override func look() { loop.turn { onEvents() } }

    override var line: String { "watch of files" }

    override func willClose() { store.with { $0.events.remove(number) } }

    override func abort() {
        let onEnd = onEnd
        close()
        onEnd()
    }

    override func didClose() {
        onEvents = {}
        onEnd = {}
    }
}

/// Adds watches to an event source.
private struct SimulatedWatcher: DirectoryWatcher {
    let source: UInt64

    func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
        let directory = directory as! SimulatedDirectory
        return try directory.store.with { state throws(SystemError) in
            try state.events.watch(directory.inode, for: changes, by: source)
        }
    }

    func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
        let directory = directory as! SimulatedDirectory
        return try directory.store.with { state throws(SystemError) in
            let inode = state.inodes[directory.inode]!
            guard let place = inode.place, inode.linkCount > 0 else { return nil }
            let watch = try state.events.watch(place.directory, for: .ofReplacement, by: source)
            return WatchedPlace(watch: watch, name: place.name)
        }
    }

    // A simulated disk is one file system.

    func watchMounted(
        _ name: RelativePath, in directory: any DirectoryHandle
    ) throws(SystemError) -> CInt? { nil }

    func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable) {
        (MountTable(), MountTable())
    }
}
