extension Future {
    /// The outcome of an asynchronous `body`, which runs on `loop` as a task of its own: what it returns or throws.
    ///
    /// `body` begins in a turn of the loop, never inside this call. It is isolated to the loop: it may use futures,
    /// await them, and touch what belongs to the loop, and after each `await`, of whatever, it goes on there.
    /// `@concurrent` functions and actors of other executors run elsewhere meanwhile. A body made in an actor stays
    /// isolated to that one. While it runs it keeps ``EventLoop/run()`` from returning.
    ///
    /// Cancelling the future cancels the task. The future is cancelled at once; `body` goes on until it notices, and
    /// its result is dropped. ``EventLoop/shutdown()`` does the same, with ``FutureError/shutDown``, and waits until
    /// `body` has ended.
    public init(on loop: EventLoop, _ body: @escaping () async throws -> Value) {
        loop.checkThread()
        guard !loop.isShutDown else {
            self = loop.failed(FutureError.shutDown)
            return
        }
        let promise = loop.makePromise(of: Value.self)
        loop.bodies += 1
        loop.hold()
        let task = loop.startTask {
            do {
                promise.succeed(try await body())
            } catch {
                promise.fail(error)
            }
            loop.bodies -= 1
            loop.letGo()
        }
        promise.cell.setProducer(TaskProducer(task))
        self = promise.future
    }
}

extension Promise {
    /// Lets an asynchronous `body` decide the outcome, which runs as that of ``Future/init(on:_:)`` does. `false`,
    /// and `body` never runs, if the future has already been completed or cancelled.
    @discardableResult
    public func complete(with body: @escaping () async throws -> Value) -> Bool {
        guard !cell.isCompleted, !cell.isLockedIn else { return false }
        return complete(using: Future(on: cell.loop, body))
    }
}

/// The task behind a future. It is told to end when nobody wants the outcome any more.
private final class TaskProducer: Producer {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    override func cancellationRequested(by cell: Cell) -> Answer { .cancel }

    override func settled() { task.cancel() }
}
