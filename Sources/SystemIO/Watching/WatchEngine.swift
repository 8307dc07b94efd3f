internal import Futures

/// Processes the events of one ``FileWatch``, and finds its changes.
///
/// Work that blocks runs as a job off the loop: adding watches, and searching for files. Events wait meanwhile. So an
/// event is processed only when all watches added before it are known.
class WatchEngine {
    /// The maximum number of events that wait for a job. With more, the engine looks at everything again.
    private static let patience = 65_536
    /// The time for which the first event of a rename waits for the second one, which the system reports directly after
    /// it.
    static let renameTime: Duration = .milliseconds(2)

    final let path: String
    final let hub: FileEventHub
    final let changes: ChangeBuffer
    private(set) final var queue = Fifo<(event: FileEvent, time: LoopInstant)>()
    /// The second events of renames that wait in the queue, by cookie.
    private final var targets: [UInt32: FileEvent] = [:]
    private final var isWaitingForTarget = false
    /// The time when the current event arrived.
    private(set) final var eventTime: LoopInstant
    private(set) final var isBusy = false
    private final var isEnded = false
    /// Whether events were lost, so that everything must be looked at again.
    final var hasLostEvents = false
    /// Called with the reason when the engine has ended by itself.
    final var onEnd: (any Error) -> Void = { _ in }

    init(_ path: String, _ hub: FileEventHub, _ changes: ChangeBuffer) {
        (self.path, self.hub, self.changes) = (path, hub, changes)
        eventTime = hub.loop.now
        hub.add(self)
    }

    final var loop: LoopCore { hub.loop }

    // MARK: Events

    final func take(_ event: FileEvent) {
        guard !isEnded else { return }
        if event.changes.contains(.overflow) || queue.count >= Self.patience {
            hasLostEvents = true
            queue = Fifo()
            targets = [:]
            return
        }
        if event.changes.contains(.movedTo) { targets[event.cookie] = event }
        if event.changes.contains(.created), let name = event.name {
            noteArrival(WatchedPlace(watch: event.watch, name: name))
        }
        queue.append((event, loop.now))
    }

    /// Processes the waiting events until a job is needed.
    final func process() {
        while !isBusy, !isEnded {
            if hasLostEvents {
                hasLostEvents = false
                // The new look finds the present state. Waiting events of earlier renames would be mistaken for later
                // ones.
                (queue, targets) = (Fifo(), [:])
                lookAtEverything()
                continue
            }
            guard let (event, time) = queue.first else { return workIsDone() }
            if event.changes.contains(.movedFrom), targets[event.cookie] == nil, mayBeRenamed(since: time) {
                return
            }
            _ = queue.takeFirst()
            eventTime = time
            handle(event)
        }
    }

    private final func handle(_ event: FileEvent) {
        if event.changes.contains(.movedFrom), let target = targets[event.cookie], handleRename(event, target)
        {
            targets[event.cookie] = nil
        } else if event.changes.contains(.movedTo) {
            // The second event of a rename has been handled with the first one.
            if targets.removeValue(forKey: event.cookie) != nil { handleChange(event) }
        } else {
            handleChange(event)
        }
    }

    private final func mayBeRenamed(since time: LoopInstant) -> Bool {
        let left = Self.renameTime - time.duration(to: loop.now)
        guard left > .zero else { return false }
        if isWaitingForTarget { return true }
        isWaitingForTarget = true
        loop.sleep(for: left).ignoreFailure().whenSuccess { [weak self] in
            self?.isWaitingForTarget = false
            self?.process()
        }
        return true
    }

    /// Whether names have changed during the last job.
    final var namesHaveChanged: Bool {
        queue.all.contains { !$0.event.changes.isDisjoint(with: .ofNames) }
    }

    // MARK: Jobs

    /// Runs `job` off the loop. Then calls `done`, unless the engine has ended. System watches that the job added and
    /// `done` does not retain are removed again.
    final func run<Found: Sendable>(
        _ job: @escaping @Sendable (any FileSystem, any DirectoryWatcher) throws -> Found,
        then done: @escaping (Result<Found, any Error>) -> Void
    ) {
        isBusy = true
        let (files, watcher) = (hub.system.fileSystem, ClaimingWatcher(hub.watcher, hub.claims))
        let found = RemoteContext.files.execute(on: loop) { try job(files, watcher) }
        found.whenComplete { [self] result in
            // Queues all events so far before anything else happens.
            let touched = hub.takeEvents()
            isBusy = false
            if !isEnded { done(result) }
            // A user's closure may have closed the engine within `done`, which then has retained more.
            if isEnded { releaseWatches() }
            hub.jobHasEnded(watcher.watches)
            if !isEnded { process() }
            for engine in touched where engine !== self { engine.process() }
        }
    }

    // MARK: The end

    /// Ends the engine because of `error`.
    final func end(_ error: any Error) {
        let onEnd = onEnd
        close()
        onEnd(error)
    }

    final func close() {
        guard !isEnded else { return }
        isEnded = true
        onEnd = { _ in }
        (queue, targets) = (Fifo(), [:])
        releaseWatches()
        hub.remove(self)
    }

    // MARK: For subclasses

    /// Watches everything that exists, and then calls `done`. Ends the engine if that fails.
    func start(_ done: @escaping () -> Void) {}
    /// Handles an event that is not the second one of a handled rename.
    func handleChange(_ event: FileEvent) {}
    /// Handles a rename. Returns `false` if its two events must be handled separately.
    func handleRename(_ source: FileEvent, _ target: FileEvent) -> Bool { false }
    /// Called when a file has been created at `place`, before the event is handled.
    func noteArrival(_ place: WatchedPlace) {}
    /// The number of files created with the name of the watched file so far.
    final var arrivals = 0
    /// Looks at everything again because events were lost, and reports `lookAgain`.
    func lookAtEverything() {}
    /// Called when no event waits.
    func workIsDone() {}
    /// Releases all system watches.
    func releaseWatches() {}
    /// The number of watched directories.
    var directoryCount: Int { 0 }
}
