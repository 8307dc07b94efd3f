internal import Futures

/// The source of a loop's file events, shared by all its watches. It is created with the first watch and closed with
/// the last.
final class FileEventHub {
    let loop: LoopCore
    let system: any LoopSystem
    private let source: any FileEventSource
    private(set) var engines: [WatchEngine] = []
    /// The engines that use each system watch. The system has one watch for each directory, and an engine may use it
    /// twice.
    private var users: [CInt: [WatchEngine]] = [:]
    /// The watches that running jobs may have added. Such a watch is kept until the job has ended, even if no engine
    /// uses it.
    let claims = WatchClaims()
    private var unused: Set<CInt> = []
    /// The number of engines for which somebody waits.
    private var awaited = 0

    /// Returns the hub of `loop`. Creates it if necessary.
    static func shared(on loop: LoopCore) throws(SystemError) -> FileEventHub {
        let system = loop.system
        if let hub = system.fileEventHub as? FileEventHub { return hub }
        let hub = FileEventHub(try system.makeFileEvents(), system, loop)
        system.fileEventHub = hub
        return hub
    }

    private init(_ source: any FileEventSource, _ system: any LoopSystem, _ loop: LoopCore) {
        (self.source, self.system, self.loop) = (source, system, loop)
        source.onEvents = { [unowned self] in
            loop.turn { self.catchUp() }
        }
        source.onEnd = { [weak self] in
            guard let self else { return }
            for engine in engines { engine.end(FutureError.shutDown) }
        }
    }

    var watcher: any DirectoryWatcher { source.watcher }

    /// Lets the engines process the waiting events.
    func catchUp() {
        for engine in takeEvents() { engine.process() }
    }

    /// Passes the waiting events to the engines. An engine with a running job gets all of them, because the watches
    /// that the job adds are not known yet. Returns the engines that got events.
    @discardableResult
    func takeEvents() -> [WatchEngine] {
        var touched: [WatchEngine] = []
        let events: [FileEvent]
        do throws(SystemError) {
            events = try source.takeEvents()
        } catch {
            // The descriptor delivers no more events to any engine.
            for engine in engines { engine.end(FileWatchError(error, path: engine.path)) }
            return []
        }
        for event in events {
            let idle = users[event.watch, default: []].filter { !$0.isBusy }
            let takers = event.watch < 0 ? engines : idle + engines.filter(\.isBusy)
            // An engine that has a watch twice gets its events once.
            for (index, engine) in takers.enumerated()
            where !takers[..<index].contains(where: { $0 === engine }) {
                engine.take(event)
                if !touched.contains(where: { $0 === engine }) { touched.append(engine) }
            }
        }
        return touched
    }

    func add(_ engine: WatchEngine) { engines.append(engine) }

    func remove(_ engine: WatchEngine) {
        engines.removeAll { $0 === engine }
        guard engines.isEmpty else { return }
        users = [:]
        system.fileEventHub = nil
        source.close()
    }

    /// Records that `engine` uses the watch.
    func retain(_ watch: CInt, by engine: WatchEngine) { users[watch, default: []].append(engine) }

    func release(_ watch: CInt, by engine: WatchEngine) {
        if let index = users[watch]?.firstIndex(where: { $0 === engine }) { users[watch]!.remove(at: index) }
        removeUnused(watch)
    }

    /// Ends the system watch if no engine uses it. If a job may have it, defers that until the job has ended.
    func removeUnused(_ watch: CInt) {
        guard users[watch]?.isEmpty != false else { return }
        users[watch] = nil
        if !claims.whileUnclaimed(watch, { source.removeWatch(watch) }) { unused.insert(watch) }
    }

    /// Ends those watches of an ended job that no engine uses, and the unused watches that waited for its end.
    func jobHasEnded(_ watches: Set<CInt>) {
        claims.end(watches)
        let watches = watches.union(unused)
        unused = []
        for watch in watches.sorted() { removeUnused(watch) }
    }

    func awaitedChanged(by change: Int) {
        awaited += change
        source.keepAlive(awaited > 0)
    }
}
