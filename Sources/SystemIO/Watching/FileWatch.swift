public import Futures

/// Watches a file, a directory or a tree, and reports its changes.
///
/// A file is watched through its directory, so it may be replaced, or created later. If the path contains symlinks,
/// they are watched, too.
///
/// Changes of one path in quick succession are merged into one: a program may save a file in many pieces, or write
/// another file and rename that over the old one. The watch waits until nothing has changed for `debounce`, but at most
/// ten times that long. With a `debounce` of zero, each change is delivered separately and at once.
///
/// If more changes arrive than the system or the watch keeps, the next change is ``FileChange/Kind/lookAgain``. A
/// program misses nothing if it examines everything when the watch begins, and again at each such change.
///
/// While your code waits for a change, the watch stays alive and keeps ``Futures/EventLoop/run()`` from returning.
/// Otherwise, releasing the last reference closes it.
public final class FileWatch {
    /// The default quiet time before changes are delivered.
    public static let defaultDebounce: Duration = .milliseconds(50)

    public var loop: EventLoop { core }
    let core: LoopCore
    /// The path of the file or the directory, as it was given.
    public let path: String
    private let engine: WatchEngine
    private let changeBuffer: ChangeBuffer
    /// The callers that wait for a change. The payload is `true` for an iteration.
    private let waits: WaitLine<Bool>
    private var handler: ((FileChange) -> Void)?
    private var reason: (any Error)?
    private var isClosed = false
    /// Whether the watch has ended without a closure for changes: whoever asks for the next change gets the reason.
    private var tellsReaders = false
    /// The promise of the call that created the watch, until everything is watched.
    private var startPromise: Promise<FileWatch>?
    private let closedPromise: Promise<Void>
    private var overflowReports = ReportLimit()
    /// A reference to the watch itself, which keeps it alive while something waits for a change.
    private var hold: FileWatch? {
        didSet {
            guard (hold == nil) != (oldValue == nil) else { return }
            changeBuffer.isAwaited = hold != nil
            engine.hub.awaitedChanged(by: hold == nil ? -1 : 1)
        }
    }

    init(_ path: String, _ changes: ChangeBuffer, _ engine: WatchEngine) {
        (self.path, changeBuffer, self.engine) = (path, changes, engine)
        core = engine.loop
        waits = WaitLine(on: core, name: "watch of files")
        closedPromise = core.makeSharedPromise()
        waits.onDeparture = { [unowned self] in update() }
        changes.onReady = { [unowned self] in deliver() }
        changes.onOverflow = { [unowned self] in warnOfOverflow() }
        engine.onEnd = { [unowned self] in end($0) }
    }

    deinit {
        guard !isClosed else { return }
        core.checkThread()
        engine.close()
        changeBuffer.close()
        closedPromise.succeed()
        tellEnd(nil)
    }

    /// Starts the engine, and completes when everything is watched.
    func start() -> Future<FileWatch> {
        let promise = core.makePromise(of: FileWatch.self)
        startPromise = promise
        engine.start { [self] in
            core.watches.lines[ObjectIdentifier(self)] = { [unowned self] in line }
            if core.isObserved { core.tell(.opened(description)) }
            startPromise.take()?.succeed(self)
        }
        return promise.future
    }

    // MARK: Diagnostics

    private var line: String {
        let counts = changeBuffer.counts
        return "watch of \(path): \(engine.directoryCount) directories, \(counts.told) changes delivered, "
            + "\(counts.merged) merged, \(counts.overflows) overflows"
    }

    private func warnOfOverflow() {
        guard core.isObserved, overflowReports.admits(at: core.clock) else { return }
        core.tell(
            .warning(
                "\(path) had more changes than its watch keeps, so the watch dropped those that waited and "
                    + "reported lookAgain; take changes sooner, or raise FileWatchLimits.maxChanges or the sysctl "
                    + "fs.inotify.max_queued_events"))
    }

    private func tellEnd(_ failure: (any Error)?) {
        guard core.watches.lines.removeValue(forKey: ObjectIdentifier(self)) != nil, core.isObserved else {
            return
        }
        core.tell(.closed(description, failure: failure))
    }

    // MARK: Futures

    /// Completes with the next change. Several calls may wait at the same time. Each change goes to one of them.
    ///
    /// Closing the watch cancels the returned future. If you cancel it yourself, no change is lost. Fails with
    /// ``FileWatchError`` if the watch has ended by itself, for example because the directory was removed.
    public func next() -> Future<FileChange> {
        core.checkThread()
        if let change = changeBuffer.takeFirst() { return core.succeeded(change) }
        if let error = endError { return core.failed(error) }
        return wait(isIterating: false)
    }

    /// A sequence of the changes. Use it in a loop such as `for try await change in watch.changes`. The sequence ends when
    /// the watch is closed. The iteration throws the errors of ``next()``.
    ///
    /// Changes that still wait when you leave the `for` loop are kept for the next caller.
    public var changes: LoopSequence<FileChange> {
        LoopSequence(on: core) { [self] in
            .init(next: {
                if let change = self.changeBuffer.takeFirst() { return self.core.succeeded(change) }
                guard let error = self.endError else { return self.wait(isIterating: true) }
                return error is CancellationError ? self.core.succeeded(nil) : self.core.failed(error)
            })
        }
    }

    private var endError: (any Error)? {
        if let reason { return reason }
        if core.isShutDown { return FutureError.shutDown }
        return isClosed ? CancellationError() : nil
    }

    private func wait<Value>(isIterating: Bool) -> Future<Value> {
        let future = waits.wait(for: Value.self, isIterating)
        update()
        return future
    }

    // MARK: A closure

    /// Calls `handler` for each change, until the watch is closed or ends. Pending calls of ``next()`` get changes
    /// first. Another call replaces `handler`, and `nil` removes it. ``closed`` reports why the watch has ended.
    public func onChange(_ handler: ((FileChange) -> Void)?) {
        core.checkThread()
        guard !isClosed else { return }
        let former = exchange(&self.handler, with: handler.map(core.carrying))
        if handler != nil { core.later { [weak self] in self?.deliver() } }
        update()
        withExtendedLifetime(former) {}
    }

    // MARK: Delivery

    private func deliver() {
        core.turn {
            while !waits.isEmpty, let change = changeBuffer.takeFirst(), let waiter = waits.takeFirst() {
                waiter.complete(change, isIterating: waiter.payload)
            }
            while let handler, let change = changeBuffer.takeFirst() { handler(change) }
        }
        update()
    }

    private func update() {
        let isAwaited = !isClosed && (handler != nil || !waits.isEmpty)
        // Done last, because it may release the last reference to the watch.
        if isAwaited != (hold != nil) { hold = isAwaited ? self : nil }
    }

    /// Whether the watch still reports changes.
    public var isOpen: Bool {
        core.checkThread()
        return !isClosed
    }

    /// Completes when the watch has been closed. Fails with ``FileWatchError`` if it has ended by itself. In that case,
    /// the last changes can still be taken.
    public var closed: Future<Void> { closedPromise.future }

    /// The number of watched directories.
    public var directoryCount: Int {
        core.checkThread()
        return engine.directoryCount
    }

    /// The number of files created with the name of the watched file so far.
    var arrivals: Int {
        engine.hub.catchUp()
        return engine.arrivals
    }

    /// Closes the watch. Cancels pending calls of ``next()``, and ends sequences. Changes that nobody has taken are
    /// lost. A second call has no effect.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        guard !isClosed else { return closed }
        engine.close()
        finish(nil)
        changeBuffer.close()
        return closed
    }

    /// Ends the watch because of `error`.
    private func end(_ error: any Error) {
        changeBuffer.flush()
        finish(error)
    }

    private func finish(_ error: (any Error)?) {
        isClosed = true
        reason = error
        let former = handler.take()
        tellsReaders = former == nil
        for waiter in waits.takeAll() {
            waiter.complete(FileChange?.none, failure: error, isIterating: waiter.payload)
        }
        startPromise.take()?.fail(error!)
        closedPromise.completeLast(failure: error)
        tellEnd(error)
        hold = nil
        withExtendedLifetime(former) {}
    }
}

@available(*, unavailable, message: "A watch belongs to its loop's thread; go there with loop.execute { … }.")
extension FileWatch: Sendable {}

extension FileWatch: CustomStringConvertible {
    /// The watch in one line, such as `FileWatch (/etc/app.conf)`.
    public var description: String { "FileWatch (\(path))" }
}

extension FileWatch: ScopeMember {
    /// The membership of this watch in a scope, as a resource: ends by ``close()``, and has failed if ``closed`` fails.
    public var membership: ScopeMembership {
        var membership = ScopeMembership(
            ended: closed, cancel: { self.close() }, release: { self.close() })
        membership.isTold = { _ in self.tellsReaders }
        return membership
    }
}
