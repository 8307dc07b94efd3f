extension Future {
    /// Runs an asynchronous `body` on `loop` as a task of its own, and completes with what it returns or throws.
    ///
    /// `body` begins in a turn of the loop, never inside this call. It is isolated to the loop: it may use futures,
    /// await them, and touch what belongs to the loop. After each `await`, of whatever, it goes on there. A body made
    /// in an actor stays isolated to that actor. A body of the main actor runs on any loop that the main actor
    /// drives. While it runs it keeps ``EventLoop/run()`` from returning.
    ///
    /// However the closure is written, none of it leaves the loop by itself: the task prefers the loop as its
    /// executor. So `async let`, task groups, `@concurrent` functions and actors without an executor of their own run
    /// on the loop as well. An actor that tasks elsewhere use too runs on either side, depending on which comes
    /// first. To take work off the loop, use ``Futures/RemoteContext`` or
    /// `withTaskExecutorPreference(globalConcurrentExecutor) { … }`.
    ///
    /// Cancelling the future cancels the task, and what the body awaits, before the call returns. The future is
    /// cancelled at once. `body` goes on until it notices, and its result is dropped. ``EventLoop/shutdown()`` does
    /// this with ``FutureError/shutDown``, and waits until `body` has ended.
    ///
    /// Leave `isolation` out: its default is the isolation of the caller.
    ///
    /// ```swift
    /// let size = Future(on: loop) { try await load("page").count }
    /// ```
    public init(
        on loop: EventLoop, isolation: (any Actor)? = #isolation, _ body: @escaping () async throws -> Value
    ) {
        self.init(on: loop, isolation: isolation, of: nil, body)
    }

    /// Like ``Future/init(on:isolation:_:)``, with a name to report if the end of `body` does not come.
    package init(
        on loop: EventLoop, isolation: (any Actor)?, of subject: (any CustomStringConvertible)?,
        _ body: @escaping () async throws -> Value
    ) {
        let loop = loop.core
        loop.checkThread()
        guard !loop.isShutDown else {
            self = loop.failed(FutureError.shutDown)
            return
        }
        let promise = loop.makePromise(of: Value.self)
        loop.hold()
        let isOnMain = isolation === MainActor.shared
        // Something that it calls may be of the main actor, if itself is not.
        if loop.isOfMainThread { loop.driver.serveMainActor() }
        var outcome: Result<Value, any Error>?
        let (task, known) = loop.startBody(of: subject, isOnMain: isOnMain) {
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        } ended: {
            promise.complete(outcome!)
            loop.letGo()
        }
        promise.cell.setProducer(TaskProducer(task, known, on: loop))
        self = promise.future
    }
}

extension Promise {
    /// Completes the future with the outcome of an asynchronous `body`, which runs as in
    /// ``Future/init(on:isolation:_:)``. Returns `false`, and never runs `body`, if the future has already been
    /// completed or cancelled.
    ///
    /// Leave `isolation` out: its default is the isolation of the caller.
    ///
    /// ```swift
    /// promise.complete { try await load("page").count }
    /// ```
    @discardableResult
    public func complete(
        isolation: (any Actor)? = #isolation, awaiting body: @escaping () async throws -> Value
    ) -> Bool {
        guard !cell.isCompleted, !cell.isLockedIn else { return false }
        return complete(using: Future(on: cell.loop, isolation: isolation, body))
    }
}

/// The task behind a future. It is cancelled when nobody wants the outcome any more.
private final class TaskProducer: Producer {
    private let task: Task<Void, Never>
    private let body: Body
    private unowned let loop: LoopCore

    init(_ task: Task<Void, Never>, _ body: Body, on loop: LoopCore) {
        self.task = task
        self.body = body
        self.loop = loop
    }

    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }

    override var subject: String? { "a body" }

    override func settled() {
        task.cancel()
        body.cancel(on: loop)
    }
}
