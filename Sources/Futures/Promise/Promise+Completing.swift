extension Promise {
    /// Completes the future with the outcome of `completing`: a `Result`, a ``FutureCompletion`` or another
    /// future. Returns `false` if the future has already been completed or cancelled.
    ///
    /// If `completing` is a future, or is `.using` with a future, only that future decides the outcome from
    /// now on, as with ``complete(using:)``.
    @discardableResult
    public func complete<C: Completing>(_ completing: C) -> Bool where C.Value == Value {
        guard isOpen else { return false }
        return complete(with: completing.completion)
    }

    /// Calls `body` now, if the future is pending. Completes the future with the value that `body` returns,
    /// or with the error that `body` throws.
    ///
    /// If the future is not pending, calls `alreadyCompleted`, and not `body`. The same holds after a call of
    /// ``complete(using:)``. Returns `true` if this call completed the future. Returns `false` if the future
    /// was not pending, or if code inside `body` completed or cancelled the future before `body` returned.
    ///
    /// ```swift
    /// promise.completeIfPending { hash(Data(names.joined().utf8)) }    // Not if it is cancelled.
    /// ```
    @discardableResult
    public func completeIfPending(
        _ body: () throws -> Value, else alreadyCompleted: () -> Void = {}
    ) -> Bool { completeIfPending({ Result(catching: body) }, else: alreadyCompleted) }

    /// Calls `body` now, if the future is pending. `body` returns for example a `Result` or another future,
    /// and the future gets the outcome of that. If `body` throws, the future fails with that error.
    ///
    /// If the future is not pending, calls `alreadyCompleted`, and not `body`. Returns `true` if this call
    /// completed the future.
    @discardableResult
    public func completeIfPending<C: Completing>(
        _ body: () throws -> C, else alreadyCompleted: () -> Void = {}
    ) -> Bool where C.Value == Value {
        guard isOpen else {
            alreadyCompleted()
            return false
        }
        do { return accept(try body().completion) } catch { return fail(error) }
    }

    /// Whether this promise may still complete its future.
    private var isOpen: Bool { cell.pointer.isOpen && !cell.isLockedIn }

    /// Completes the future in the way that `completion` says. If that is too late and `completion` is
    /// another future, asks the other future to cancel.
    private func accept(_ completion: FutureCompletion<Value>) -> Bool {
        let isAccepted = complete(with: completion)
        if !isAccepted, case .using(let future) = completion { future.cancel() }
        return isAccepted
    }

    private func complete(with completion: FutureCompletion<Value>) -> Bool {
        guard case .using(let other) = completion else { return complete(completion.result!) }
        return complete(using: other)
    }
}

extension EventLoop {
    /// Returns a future that gets the outcome of `completing`, which is for example a `Result` or another
    /// future.
    public func completed<C: Completing>(_ completing: C) -> Future<C.Value> {
        core.checkThread()
        let cell = Cell.plain(core, state: .pending, of: C.Value.self)
        cell.pointer.complete(with: completing.completion)
        return Future(cell)
    }

    /// Runs `body` later, from the loop's ready queue. `body` returns for example a `Result` or another
    /// future, and the returned future gets the outcome of that. If `body` throws, the returned future fails
    /// with that error.
    public func flatSubmit<C: Completing>(_ body: @escaping () throws -> C) -> Future<C.Value> {
        flatSubmit(on: .default, body)
    }

    /// Runs `body` on `context`. Everything else is the same as in ``flatSubmit(_:)``.
    func flatSubmit<C: Completing>(
        on context: LocalContext, _ body: @escaping () throws -> C
    ) -> Future<C.Value> {
        core.checkThread()
        let cell = Cell.waiting(core, step: FlatSubmitStep<C.Value> { try body().completion })
        core.submit(cell, on: context)
        return Future(cell)
    }
}

private struct FlatSubmitStep<Output>: Step {
    let body: () throws -> FutureCompletion<Output>

    func run(source: CellPointer, target: CellPointer) {
        do { target.complete(with: try body()) } catch { target.fail(error) }
    }

    static var verb: String? { "flatSubmit" }
}
