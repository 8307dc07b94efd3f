public import Dispatch

/// A place where closures run on another thread than the loop's.
///
/// What crosses over has to be `Sendable`, the closure included. The closure's future belongs to the loop, and
/// completes there. Cancelling the future before the closure has started releases the closure without running it, and
/// lets the next one have its place. Afterwards the closure runs to its end and its value is dropped. A closure that
/// waits or runs keeps ``EventLoop/run()`` from returning.
public struct RemoteContext: Sendable {
    private let runner: any RemoteRunner
    private let isBarrier: Bool

    package init(_ runner: any RemoteRunner) {
        self.init(runner, isBarrier: false)
    }

    private init(_ runner: any RemoteRunner, isBarrier: Bool) {
        self.runner = runner
        self.isBarrier = isBarrier
    }

    func start(_ job: RemoteJob) {
        runner.start(job, asBarrier: isBarrier)
    }

    /// Runs closures on `queue`, in the order of the queue.
    public static func queue(_ queue: DispatchQueue) -> RemoteContext {
        RemoteContext(QueueRunner(queue, name: "queue \(queue.label)"))
    }

    /// Runs closures on the threads of Dispatch, many at a time, when the machine has nothing better to do.
    public static var background: RemoteContext { global(.background, "background") }
    /// Runs closures on the threads of Dispatch, many at a time: for work that shows its progress to somebody.
    public static var utility: RemoteContext { global(.utility, "utility") }
    /// Runs closures on the threads of Dispatch, many at a time.
    public static var `default`: RemoteContext { global(.default, "default") }
    /// Runs closures on the threads of Dispatch, many at a time: for work that somebody waits for.
    public static var userInitiated: RemoteContext { global(.userInitiated, "userInitiated") }
    /// Runs closures on the threads of Dispatch, many at a time, before all others.
    public static var userInteractive: RemoteContext { global(.userInteractive, "userInteractive") }

    private static func global(_ qos: DispatchQoS.QoSClass, _ name: String) -> RemoteContext {
        RemoteContext(QueueRunner(.global(qos: qos), name: name))
    }

    /// Runs closures on the thread of another loop, from its ready queue. On the loop's own thread, later in the
    /// turn.
    ///
    /// A closure given after that loop was shut down fails its future with ``FutureError/brokenPromise(file:line:)``.
    public static func loop(_ loop: EventLoop, name: String = "loop") -> RemoteContext {
        RemoteContext(LoopRunner(name: name, isImmediate: false) { [core = loop.core] in core })
    }

    /// Gives each closure to `run`, which has to call it once, wherever and whenever it likes.
    ///
    /// A closure that it drops instead fails its future with ``FutureError/brokenPromise(file:line:)``.
    ///
    /// ```swift
    /// let thread = RemoteContext.custom { job in Thread.detachNewThread(job) }
    /// let digest = fetch("page").map(on: thread) { hash($0) }
    /// ```
    public static func custom(
        name: String = "custom", _ run: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void
    ) -> RemoteContext {
        RemoteContext(CustomRunner(name: name, run: run))
    }

    /// Runs closures on `base`, one after another, in the order in which they come.
    public static func serial(on base: RemoteContext, name: String? = nil) -> RemoteContext {
        RemoteContext(Limiter(limit: 1, name: name ?? "serial on \(base)", on: base.runner))
    }

    /// Runs closures on `base`, at most `limit` at a time, started in the order in which they come.
    ///
    /// The returned context and its copies share the limit. A second call makes its own.
    /// - Throws: ``FutureError/invalidArgument(_:)`` if `limit` is less than one.
    public static func limited(
        maxConcurrent limit: Int, on base: RemoteContext, name: String? = nil
    ) throws(FutureError) -> RemoteContext {
        try checkLimit(limit)
        return RemoteContext(Limiter(limit: limit, name: name ?? "limited on \(base)", on: base.runner))
    }

    /// How many closures run at a time. `nil` if this context does not limit that.
    public var limit: Int? { (runner as? Limiter)?.limit }

    /// Lets at most `limit` closures run at a time from now on. A higher limit starts more at once. With a lower
    /// limit running closures go on, and no other starts before there is room. Any thread.
    ///
    /// - Throws: ``FutureError/invalidArgument(_:)`` if `limit` is less than one, or the context has no limit.
    public func setLimit(_ limit: Int) throws(FutureError) {
        try RemoteContext.checkLimit(limit)
        guard let limiter = runner as? Limiter else {
            throw .invalidArgument("\(self) has no limit; make one that has with .limited(maxConcurrent:on:)")
        }
        limiter.limit = limit
    }

    /// This context for closures that run alone: after all that came before, and before all that come later.
    ///
    /// Traps unless the context has a limit, is serial or is a queue.
    ///
    /// ```swift
    /// let files = try RemoteContext.limited(maxConcurrent: 4, on: .pool)
    /// let page = files.execute(on: loop) { try Data(contentsOf: URL(filePath: "page.html")) }
    /// let emptied = files.barrier.execute(on: loop) { try Data().write(to: URL(filePath: "page.html")) }
    /// ```
    public var barrier: RemoteContext {
        if !runner.hasBarriers { Misuse.noBarrier(description) }
        return RemoteContext(runner, isBarrier: true)
    }

    private static func checkLimit(_ limit: Int) throws(FutureError) {
        guard limit > 0 else { throw .unsuitableLimit(limit) }
    }
}

extension RemoteContext: Hashable {
    public static func == (a: RemoteContext, b: RemoteContext) -> Bool {
        a.runner.identity == b.runner.identity && a.isBarrier == b.isBarrier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(runner.identity)
        hasher.combine(isBarrier)
    }
}

extension RemoteContext: CustomStringConvertible {
    public var description: String { isBarrier ? "\(runner.name), barrier" : runner.name }
}
