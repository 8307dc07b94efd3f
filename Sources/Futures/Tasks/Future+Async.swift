extension Future {
    /// Runs an asynchronous `body` on `loop` as a separate task. Completes with what `body` returns, or fails
    /// with the error that `body` throws.
    ///
    /// `body` begins in a turn of the loop, never inside this call. `body` is isolated to the loop: it may
    /// use futures, await them, and touch everything that belongs to the loop. After each `await` of any
    /// kind, `body` continues on the loop. If the closure is made in an actor, it stays isolated to that
    /// actor. A closure that is isolated to the main actor runs on any loop that the main actor drives. While
    /// `body` runs, it keeps ``EventLoop/run()`` from returning.
    ///
    /// No part of `body` leaves the loop by itself, no matter how the closure is written, since the task
    /// prefers the loop as its executor. So `async let`, task groups, `@concurrent` functions and actors
    /// without an executor of their own run on the loop as well. If tasks outside the loop use such an actor
    /// too, the actor runs on the loop or elsewhere, depending on which task comes first. To take work off
    /// the loop, use ``Futures/RemoteContext`` or `withTaskExecutorPreference(globalConcurrentExecutor) { …
    /// }`.
    ///
    /// Cancelling the returned future cancels it at once. Before the call returns, it also cancels the task,
    /// and asks the future that `body` awaits to cancel. `body` continues until it notices the cancellation,
    /// and its result is dropped. ``EventLoop/shutdown()`` ends the returned future and the `await` in the
    /// same way, with ``FutureError/shutDown``. The shutdown then waits until `body` has ended.
    ///
    /// Leave `isolation` out: its default is the isolation of the caller.
    ///
    /// ```swift
    /// let size = Future(on: loop) { try await load("page").count }
    /// ```
    public init(
        on loop: EventLoop, isolation: (any Actor)? = #isolation, _ body: @escaping () async throws -> Value
    ) { self.init(on: loop, isolation: isolation, of: nil, body) }

    /// Runs an asynchronous `body` as ``Future/init(on:isolation:_:)`` does. If `body` does not end, the
    /// report names `subject`.
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
        // A body that is not isolated to the main actor may call code that is.
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
    /// Completes the future with the outcome of an asynchronous `body`. `body` runs as in
    /// ``Future/init(on:isolation:_:)``. Returns `false`, without running `body`, if the future has already
    /// been completed or cancelled.
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

/// The producer of a future that a task completes. It cancels the task when nothing needs the outcome any
/// more.
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
