extension EventLoop {
    /// Runs `job` on the loop. Jobs from the same thread run in the order of the calls. May be called on any
    /// thread.
    ///
    /// Keeps ``run()`` from returning until the job has run. If the loop has been shut down, releases the job
    /// without running it and returns `false`. Binds
    /// [`uv_async_send`](https://docs.libuv.org/en/v1.x/async.html).
    ///
    /// ```swift
    /// DispatchQueue.global().async { [loop] in
    ///     let host = ProcessInfo.processInfo.hostName
    ///     loop.execute { print("\(host) has \(loop.statistics.connections) connections") }
    /// }
    /// ```
    @discardableResult
    public func execute(_ job: @escaping @Sendable () -> Void) -> Bool {
        withCore { $0.carriedLocals.isEmpty ? $0.take(job) : $0.acceptCarrying(job) }
    }

    /// Calls `body` on the loop's thread. `context` says when the call is made. By default, the call is made
    /// later, from the loop's ready queue.
    ///
    /// Call this function only on the loop's thread. `body` may capture anything, since `body` never leaves
    /// that thread. On a different thread, use ``execute(_:)``. To get a result, use ``submit(on:token:_:)``.
    /// Keeps ``run()`` from returning until `body` has run. A loop that has been shut down releases `body`
    /// without running it.
    public func later(on context: LocalContext = .loop, _ body: @escaping () -> Void) {
        withCore { core in
            core.checkThread()
            let cell = Cell.waiting(core, step: JobStep(body: body))
            cell.markObserved()
            core.submit(cell, on: context)
        }
    }

    /// Runs `body` on `context`. With the default context, `body` runs later, from the loop's ready queue.
    /// The returned future completes with the value that `body` returns, or fails with the error that `body`
    /// throws.
    ///
    /// Cancelling `token` cancels the returned future at once. If `body` has not run by then, it is released
    /// without running.
    ///
    /// ```swift
    /// let report = loop.submit(on: .whenIdle) { loop.dump() }
    /// ```
    @inlinable
    public func submit<Value>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> Value
    ) -> Future<Value> {
        withCore { core in
            core.checkThread()
            guard !token.isCancelled(on: core) else { return failed(CancellationError()) }
            let cell = Cell.waiting(core, step: SubmitStep(body: body))
            core.submit(cell, on: context)
            return Future<Value>(cell).ending(with: token)
        }
    }
}

extension LoopCore {
    /// Runs `job` as ``EventLoop/execute(_:)`` does. `job` is the library's own, and carries no values.
    @discardableResult
    package func accept(_ job: @escaping @Sendable () -> Void) -> Bool { take(job) }

    @inline(__always)
    fileprivate func take(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard isCaller else { return inbox.add(job, waking: self) }
        guard ending.phase != .closed else { return false }
        enqueue(job)
        return true
    }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    fileprivate func acceptCarrying(_ job: @escaping @Sendable () -> Void) -> Bool {
        let values = carriedLocals.valuesElsewhere(.set)
        return accept { values.set(during: job) }
    }

    /// Runs `job` at once on the loop's thread. On a different thread, submits `job` as ``execute(_:)`` does.
    /// May be called on any thread.
    func executeAtOnce(_ job: @escaping @Sendable () -> Void) { if isCaller { job() } else { accept(job) } }

    @usableFromInline
    func submit(_ cell: Cell, on context: LocalContext) {
        cell.pointer.place(Cell.Interest.all.on(context))
        cell.pointer.retainNew()
        dispatch(cell.pointer, source: cell.pointer)
        propagation.finishChange()
    }
}

@usableFromInline
struct SubmitStep<Output>: Step {
    @usableFromInline let body: () throws -> Output

    @inlinable init(body: @escaping () throws -> Output) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { target.complete(Result(catching: body)) }

    @inlinable static var verb: String? { "submit" }
}
