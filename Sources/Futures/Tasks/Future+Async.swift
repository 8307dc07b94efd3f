extension Future {
    /// Runs an asynchronous `body` on `loop` as a separate task. The future completes with the value that
    /// `body` returns, or fails with the error that `body` throws.
    ///
    /// The loop starts `body` later, never inside this call. `body` is isolated to the loop: it may use
    /// futures, await them, and use everything that belongs to the loop. After each `await`, `body` continues
    /// on the loop. If the closure is written in an actor, the closure stays isolated to that actor. A
    /// closure that is isolated to the main actor runs on any loop that does the work of the main actor.
    /// While `body` runs, it keeps ``EventLoop/run()`` from returning.
    ///
    /// All parts of `body` run on the loop, no matter how the closure is written, because the task prefers
    /// the loop as its executor. So `async let`, task groups, `@concurrent` functions and actors without an
    /// executor of their own run on the loop as well. If tasks outside the loop also use such an actor, the
    /// actor runs on the loop or elsewhere, depending on which task comes first. To run work outside the
    /// loop, use ``Futures/RemoteContext`` or `withTaskExecutorPreference(globalConcurrentExecutor) { … }`.
    ///
    /// If you call `cancel()` on the future, the future is cancelled at once. The task is cancelled too, and
    /// the future that `body` awaits is asked to cancel. `body` continues until it notices the cancellation,
    /// and its result is dropped. ``EventLoop/shutdown()`` fails the future with ``FutureError/shutDown``,
    /// and the `await` in `body` throws the same error. The shutdown then waits until `body` has ended.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    ///
    /// ```swift
    /// let size = Future(on: loop) { try await load("page").count }
    /// ```
    @inlinable
    public init(
        on loop: EventLoop, isolation: (any Actor)? = #isolation, _ body: @escaping () async throws -> Value
    ) { self.init(on: loop, isolation: isolation, for: nil, body) }

    /// Runs an asynchronous `body` as ``Future/init(on:isolation:_:)`` does. If `body` does not end, the
    /// report names `client`. With `endsWithWork`, the future stays pending until `body` has ended, even if it is
    /// cancelled.
    @inlinable @inline(__always)
    package init(
        on loop: EventLoop, isolation: (any Actor)?, for client: (any BodyClient)?,
        endsWithWork: Bool = false,
        _ body: @escaping () async throws -> Value
    ) {
        // Inlined, so that the optimizer knows the type of the value and the behavior of the cell needs no
        // context.
        self.init(loop.withCore { Cell.plain($0, state: .pending, of: Value.self) })
        cell.complete(with: body, isolation: isolation, for: client, endsWithWork: endsWithWork)
    }
}

extension Cell {
    /// Completes this new cell with the outcome of `body`, which begins to run later. With `endsWithWork`, a request to
    /// cancel goes to `body` alone.
    @usableFromInline
    func complete<Value>(
        with body: @escaping () async throws -> Value, isolation: (any Actor)?, for client: (any BodyClient)?,
        endsWithWork: Bool
    ) {
        let loop = loop
        loop.checkThread()
        if loop.isShutDown {
            fail(FutureError.shutDown)
        } else {
            let isOnMain = isolation === MainActor.shared
            loop.start(
                BodyOf(
                    completing: self, for: client, isOnMain: isOnMain, endsWithWork: endsWithWork, body))
        }
    }
}

extension Promise {
    /// Completes the future with the outcome of an asynchronous `body`. `body` runs in the same way as in
    /// ``Future/init(on:isolation:_:)``. If the future has already been completed or cancelled, returns
    /// `false` and does not run `body`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
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
