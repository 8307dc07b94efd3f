public import Dispatch

/// A choice of threads, other than the thread of the loop, on which closures run.
///
/// Everything that is passed between threads has to be `Sendable`, including the closure. The future of the
/// closure belongs to the loop, and completes on the loop. If that future is cancelled before the closure has
/// started, the closure is released without running. If that future is cancelled later, the closure runs to
/// its end, and its value is dropped. A closure that waits or runs keeps ``EventLoop/run()`` from returning.
public struct RemoteContext: Sendable {
    private let runner: any RemoteRunner
    private let isBarrier: Bool

    package init(_ runner: any RemoteRunner, isBarrier: Bool = false) {
        self.runner = runner
        self.isBarrier = isBarrier
    }

    func start(_ job: RemoteJob) { runner.start(job, asBarrier: isBarrier) }

    /// Returns a context that runs closures on `queue`. A serial queue runs them one after another, and a
    /// concurrent queue runs several at a time.
    public static func queue(_ queue: DispatchQueue) -> RemoteContext {
        RemoteContext(QueueRunner(queue, name: "queue \(queue.label)"))
    }

    /// The context that runs closures on the threads of Dispatch, many at a time, with quality of service
    /// `.background`: for work that is less important than all other work of the machine.
    public static let background = global(.background, "background")
    /// The context that runs closures on the threads of Dispatch, many at a time, with quality of service
    /// `.utility`: for work that shows its progress to a user.
    public static let utility = global(.utility, "utility")
    /// The context that runs closures on the threads of Dispatch, many at a time, with quality of service `.default`.
    public static let `default` = global(.default, "default")
    /// The context that runs closures on the threads of Dispatch, many at a time, with quality of service
    /// `.userInitiated`: for work that a user waits for.
    public static let userInitiated = global(.userInitiated, "userInitiated")
    /// The context that runs closures on the threads of Dispatch, many at a time, with quality of service
    /// `.userInteractive`. They run before the closures of all other qualities of service.
    public static let userInteractive = global(.userInteractive, "userInteractive")

    private static func global(_ qos: DispatchQoS.QoSClass, _ name: String) -> RemoteContext {
        RemoteContext(QueueRunner(.global(qos: qos), name: name))
    }

    /// Returns a context that runs closures on the thread of `loop`, from the loop's ready queue. Even if a
    /// closure is passed to the context on that thread, the closure runs later, and never inside the call
    /// that passes it.
    ///
    /// If `loop` has been shut down, a closure does not run, and its future fails with
    /// ``FutureError/brokenPromise(file:line:)``.
    public static func loop(_ loop: EventLoop, name: String = "loop") -> RemoteContext {
        custom(name: name) { [core = loop.core] job in core.accept(job) }
    }

    /// Returns a context that passes each closure to `run`. `run` has to call the closure once, on any thread
    /// and at any time.
    ///
    /// If `run` releases a closure without calling it, the future of that closure fails with
    /// ``FutureError/brokenPromise(file:line:)``.
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

    /// Returns a context that runs closures on the threads of `base`, one after another. The closures run in
    /// the order in which the returned context gets them.
    public static func serial(on base: RemoteContext, name: String? = nil) -> RemoteContext {
        RemoteContext(Limiter(limit: 1, name: name ?? "serial on \(base)", on: base.runner))
    }

    /// Returns a context that runs closures on the threads of `base`, at most `limit` at a time. The closures
    /// start in the order in which the returned context gets them.
    ///
    /// The returned context and its copies share the limit. A second call makes a context with a separate
    /// limit.
    ///
    /// - Throws: ``FutureError/invalidArgument(_:)`` if `limit` is less than one.
    public static func limited(
        maxConcurrent limit: Int, on base: RemoteContext, name: String? = nil
    ) throws(FutureError) -> RemoteContext {
        try requireArgument("maxConcurrent", limit, atLeast: 1)
        return RemoteContext(Limiter(limit: limit, name: name ?? "limited on \(base)", on: base.runner))
    }

    /// The highest number of closures that run at a time, or `nil` if this context has no limit. Contexts
    /// made by ``serial(on:name:)`` and ``limited(maxConcurrent:on:name:)`` have a limit, and so has `files`.
    public var limit: Int? { (runner as? any LimitedRunner)?.limit }

    /// Changes ``limit``: from now on, at most `limit` closures run at a time. May be called on any thread.
    ///
    /// If the new limit is higher, waiting closures start at once. If the new limit is lower, running
    /// closures continue, and no further closure starts until fewer than `limit` closures run.
    ///
    /// - Throws: ``FutureError/invalidArgument(_:)`` if `limit` is less than one, or the context has no
    ///   limit.
    public func setLimit(_ limit: Int) throws(FutureError) {
        try requireArgument("maxConcurrent", limit, atLeast: 1)
        guard let limiter = runner as? any LimitedRunner else {
            throw .invalidArgument(
                "\(self) has no limit; make a context that has one with .limited(maxConcurrent:on:)")
        }
        limiter.limit = limit
    }

    /// A variant of this context for closures that must run alone. Such a closure starts when all closures
    /// that the context got before it have ended. Closures that the context gets later start when this
    /// closure has ended.
    ///
    /// The context must have a limit, be serial, or run closures on a Dispatch queue. For any other context,
    /// this property traps.
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
