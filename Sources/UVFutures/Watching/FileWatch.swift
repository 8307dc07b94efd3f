public import Futures

/// A watch of a file, a directory or a tree, which tells what changes there.
///
/// A file is watched through its directory: it may be replaced, and it may be made later. If the path leads through links,
/// the links are watched, too.
///
/// Changes of one path that follow each other closely are told as one: a program that saves a file writes it in many
/// pieces, or writes another file and renames that over the old one. The watch waits until nothing has changed for the time
/// `debounce`, or for ten times as long. With a `debounce` of zero, each change is told by itself, and at once.
///
/// When more happens than the system or the watch keeps, the next change is ``FileChange/Kind/lookAgain``. A program that
/// looks at everything that it watches first, and again then, misses nothing.
///
/// While your code waits for a change, the watch stays alive and keeps ``Futures/EventLoop/run()`` from returning.
/// Otherwise, the release of the last reference closes it.
public final class FileWatch {
    /// The time that nothing has to change before changes are told, unless you say otherwise.
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
    /// The promise of the call that made the watch, until everything is watched.
    private var startPromise: Promise<FileWatch>?
    private let closedPromise: Promise<Void>
    private var overflowReports = ReportLimit()
    /// The watch itself while something waits for a change.
    private var hold: FileWatch? {
        didSet {
            guard (hold == nil) != (oldValue == nil) else { return }
            changeBuffer.isAwaited = hold != nil
            engine.hub.awaitedChanged(by: hold == nil ? -1 : 1)
        }
    }

    private init(_ path: String, _ changes: ChangeBuffer, _ engine: WatchEngine) {
        (self.path, changeBuffer, self.engine) = (path, changes, engine)
        core = engine.loop
        waits = WaitLine(on: core, name: "watch of files")
        closedPromise = core.makePromise()
        closedPromise.future.ignoreFailure()
        closedPromise.onCancelRequest { .continue }
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

    private func start() -> Future<FileWatch> {
        let promise = core.makePromise(of: FileWatch.self)
        startPromise = promise
        engine.start { [self] in
            guard let promise = startPromise.take() else { return }
            core.watches.lines[ObjectIdentifier(self)] = { [unowned self] in line }
            if core.isObserved { core.tell(.opened(description)) }
            promise.succeed(self)
        }
        return promise.future
    }

    // MARK: Diagnostics

    private var line: String {
        let counts = changeBuffer.counts
        return "watch of \(path): \(engine.directoryCount) directories, \(counts.told) changes told, "
            + "\(counts.merged) merged, \(counts.overflows) overflows"
    }

    private func warnOfOverflow() {
        guard core.isObserved, overflowReports.admits(at: core.clock) else { return }
        core.tell(
            .warning(
                "\(path) has changed more than its watch keeps, which told to look again: take changes sooner, or raise "
                    + "FileWatchLimits.maxChanges or the sysctl fs.inotify.max_queued_events"))
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
    /// When the watch is closed, the returned future is cancelled. If you cancel it, no change is lost. Fails with
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
    /// Changes that wait when the loop ends stay for whoever asks next.
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

    /// Calls `handler` for each change, until the watch is closed or ends. Calls of ``next()`` that wait get a change first.
    /// Another call of this function replaces `handler`, and `nil` stops the calls. ``closed`` tells why the watch has ended.
    public func onChange(_ handler: ((FileChange) -> Void)?) {
        core.checkThread()
        guard !isClosed else { return }
        let former = exchange(&self.handler, with: handler)
        if handler != nil { core.later { [weak self] in self?.deliver() } }
        update()
        withExtendedLifetime(former) {}
    }

    // MARK: What happens

    private func deliver() {
        core.turn {
            while !waits.isEmpty, let change = changeBuffer.takeFirst(), let waiter = waits.takeFirst() {
                if waiter.payload { waiter.succeed(Optional(change)) } else { waiter.succeed(change) }
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

    /// Whether the watch still tells changes.
    public var isOpen: Bool {
        core.checkThread()
        return !isClosed
    }

    /// Completes when the watch has been closed. Fails with ``FileWatchError`` if it has ended by itself. The last
    /// changes can still be taken then.
    public var closed: Future<Void> { closedPromise.future }

    /// The number of directories that are watched.
    public var directoryCount: Int {
        core.checkThread()
        return engine.directoryCount
    }

    /// The number of files that have been made with the name of a watched file so far.
    var arrivals: Int {
        engine.hub.catchUp()
        return engine.arrivals
    }

    /// Closes the watch. Cancels all calls of ``next()`` that wait, and ends sequences. Changes that nobody has taken are
    /// lost. A second call changes nothing.
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
        for waiter in waits.takeAll() {
            if let error {
                waiter.fail(error)
            } else if waiter.payload {
                waiter.succeed(FileChange?.none)
            } else {
                waiter.fail(CancellationError())
            }
        }
        startPromise.take()?.fail(error ?? CancellationError())
        closedPromise.completeLast(failure: error)
        tellEnd(error)
        hold = nil
        withExtendedLifetime(former) {}
    }
}

extension FileWatch {
    /// Watches the file at `path`. Completes when it is watched: later changes are told. There may be no such file yet, but
    /// its directory has to be there.
    ///
    /// Tells ``FileChange/Kind/modified`` when the file is written, and also when another file takes its place, or when
    /// a link or a directory on the way is replaced. That is found out by comparing the file before and after. So a
    /// file that is removed and made again between two looks has been modified. A rename of the file is a removal.
    ///
    /// Fails with ``FileWatchError``, or with ``Futures/FutureError/invalidArgument(_:)`` if `path`, `limits` or `debounce`
    /// is out of range. On Linux, uses `inotify`, and needs `/proc`.
    ///
    /// ```swift
    /// let watch = try await FileWatch.watch(file: "/etc/app.conf", on: loop).value
    /// for try await change in watch.changes { print(change) }
    /// ```
    public static func watch(
        file path: String, debounce: Duration = defaultDebounce, limits: FileWatchLimits = FileWatchLimits(),
        on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in PathWatch(path, hub, changes) }
    }

    /// Watches the directory at `path`: the files in it, and not those in directories below. Completes when it is watched.
    ///
    /// The watch ends with ``FileWatchError`` when `path` does not lead to that directory any more: when the directory,
    /// or one on the way, is removed, replaced, renamed, unmounted or mounted over, or when a link leads elsewhere.
    /// Fails with the errors of ``watch(file:debounce:limits:on:)``.
    public static func watch(
        directory path: String, debounce: Duration = defaultDebounce,
        limits: FileWatchLimits = FileWatchLimits(), on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in
            TreeWatch(path, isRecursive: false, limit: limits.maxDirectories, hub, changes)
        }
    }

    /// Watches the directory at `path` and all directories below it. Completes when they are watched, which takes the
    /// system some microseconds for each.
    ///
    /// A new directory is watched before its contents can be missed: what is in it by then is told as
    /// ``FileChange/Kind/created``. Links are not followed. A directory that this user may not read is told, and its
    /// contents are not. The rest is as for ``watch(directory:debounce:limits:on:)``.
    public static func watch(
        tree path: String, debounce: Duration = defaultDebounce, limits: FileWatchLimits = FileWatchLimits(),
        on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in
            TreeWatch(path, isRecursive: true, limit: limits.maxDirectories, hub, changes)
        }
    }

    private static func start(
        _ path: String, _ debounce: Duration, _ limits: FileWatchLimits, _ loop: EventLoop,
        _ makeEngine: (FileEventHub, ChangeBuffer) -> WatchEngine
    ) -> Future<FileWatch> {
        let core = loop.core
        core.checkThread()
        do {
            guard !core.isShutDown else { throw FutureError.shutDown }
            try limits.validate()
            try requireArgument(
                !path.isEmpty && !path.utf8.contains(0),
                "the path is empty or has a zero byte; give another")
            try requireArgument(debounce >= .zero, "a debounce of \(debounce) is negative; give zero or more")
            let changes = ChangeBuffer(debounce, limit: limits.maxChanges, on: core)
            let engine = makeEngine(try FileEventHub.shared(on: core), changes)
            let watch = FileWatch(path, changes, engine)
            return watch.start()
        } catch let error as UVError {
            return core.failed(FileWatchError(error, path: path))
        } catch {
            return core.failed(error)
        }
    }
}

@available(*, unavailable, message: "A watch belongs to its loop's thread; go there with loop.execute { … }.")
extension FileWatch: Sendable {}

extension FileWatch: CustomStringConvertible {
    /// The watch in one line, such as `FileWatch (/etc/app.conf)`.
    public var description: String { "FileWatch (\(path))" }
}
