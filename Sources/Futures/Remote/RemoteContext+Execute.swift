extension RemoteContext {
    /// Runs `body` on this context. The returned future belongs to `loop`, and completes there: with the
    /// value that `body` returns, or with the error that `body` throws.
    ///
    /// If `loop` is `nil`, the future belongs to ``EventLoop/current``. Fails with
    /// ``FutureError/brokenPromise(file:line:)`` if `body` is released without having run. This error names
    /// `file` and `line`. Fails with ``FutureError/shutDown`` if the loop is shut down before `body` has
    /// ended. Traps if `loop` and ``EventLoop/current`` are both `nil`. Also traps on a thread other than the
    /// loop's thread.
    ///
    /// ```swift
    /// let page = RemoteContext.pool.execute(on: loop) { try Data(contentsOf: URL(filePath: "page.html")) }
    /// ```
    public func execute<Value: Sendable>(
        on loop: EventLoop? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> Future<Value> {
        start(on: currentLoop(loop), file, line) { promise in promise.complete(Result(catching: body)) }
    }

    /// Runs `body` on this context when `delay` has passed. The delay is measured in the same way as in
    /// `EventLoop.sleep`. `loop` has the same meaning as in ``execute(on:file:line:_:)``.
    ///
    /// The returned task fails with ``FutureError/invalidArgument(_:)`` if `delay` is negative. Traps on a
    /// thread other than the loop's thread.
    @discardableResult
    public func execute<Value: Sendable>(
        after delay: Duration, on loop: EventLoop? = nil, _ body: @escaping @Sendable () throws -> Value
    ) -> ScheduledTask<Value> {
        let loop = currentLoop(loop)
        return ScheduledTask(loop.sleep(for: delay).map(on: self, body))
    }

    /// Runs `body` on this context every `interval`, until the returned task is cancelled. The first run
    /// starts after one `interval`. `pace` says whether the interval is measured from the end or from the
    /// start of the previous run. If `body` throws, `onFailure` says what happens.
    ///
    /// Runs never overlap: a run starts only after the previous run has ended. The returned task fails with
    /// ``FutureError/invalidArgument(_:)`` if `interval` is not positive. `loop` has the same meaning as in
    /// ``execute(on:file:line:_:)``. Traps on a thread other than the loop's thread.
    @discardableResult
    public func `repeat`(
        every interval: Duration, pace: RepeatPace = .fixedDelay, onFailure: RepeatFailure = .end,
        on loop: EventLoop? = nil, _ body: @escaping @Sendable () throws -> Void
    ) -> ScheduledTask<Void> {
        let loop = currentLoop(loop)
        return loop.repeat(every: interval, pace: pace, onFailure: onFailure) { [unowned loop] in
            execute(on: loop, body)
        }
    }

    private func currentLoop(_ loop: EventLoop?) -> LoopCore {
        guard let loop = loop ?? EventLoop.current else { Misuse.jobWithoutLoop() }
        return loop.core
    }

    /// Runs `body` on this context. `body` gets a promise, and completes the returned future through it.
    func start<Value: Sendable>(
        on loop: LoopCore, _ file: StaticString, _ line: UInt,
        _ body: @escaping @Sendable (RemotePromise<Value>) -> Void
    ) -> Future<Value> {
        loop.checkThread()
        guard !loop.isShutDown else { return loop.failed(FutureError.shutDown) }
        let promise = RemotePromise<Value>(loop, isForgottenAtEnd: true, file: file, line: line)
        let entry = promise.shared.entry(on: loop)!
        let values = loop.carriedValues
        let job = RemoteJob(loop) { refusal in
            if let refusal { promise.fail(refusal) } else { values.during { body(promise) } }
        }
        let id = promise.shared.id
        entry.onSettled = { [unowned loop] in
            job.cancel()
            loop.remotes.removeValue(forKey: id)?.end(with: CancellationError())
        }
        let future = Future<Value>(entry.cell)
        start(job)
        return future
    }
}
