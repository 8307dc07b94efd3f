extension Promise {
    /// Completes the future in the way that `completing` says. `false` if it has already been completed or
    /// cancelled.
    ///
    /// A future, and what completes using one, is from now on the only one to decide, as in ``complete(using:)``.
    @discardableResult
    public func complete<C: Completing>(_ completing: C) -> Bool where C.Value == Value {
        guard isOpen else { return false }
        return complete(with: completing.completion)
    }

    /// Completes the future with what `body` returns or throws, if it is pending; `body` is called now.
    ///
    /// Otherwise calls `alreadyCompleted` instead. Returns whether the future was completed by this call, which
    /// it is not if `body` completed or cancelled it by other ways.
    @discardableResult
    public func completeIfPending(
        _ body: () throws -> Value, else alreadyCompleted: () -> Void = {}
    ) -> Bool {
        completeIfPending({ Result(catching: body) }, else: alreadyCompleted)
    }

    /// Completes the future in the way that `body` returns, or with the error that it throws, if it is pending;
    /// `body` is called now. Otherwise calls `alreadyCompleted` instead.
    @discardableResult
    public func completeIfPending<C: Completing>(
        _ body: () throws -> C, else alreadyCompleted: () -> Void = {}
    ) -> Bool where C.Value == Value {
        guard isOpen else {
            alreadyCompleted()
            return false
        }
        do {
            return accept(try body().completion)
        } catch {
            return fail(error)
        }
    }

    /// Fails the future with ``FutureError/message(_:)``. `false` if it has already been completed or cancelled.
    @discardableResult
    public func fail(_ message: String) -> Bool { fail(FutureError.message(message)) }

    private var isOpen: Bool { cell.pointer.isOpen && !cell.isLockedIn }

    /// As `complete(with:)`; a future that comes too late is asked to cancel.
    private func accept(_ completion: FutureCompletion<Value>) -> Bool {
        let isAccepted = complete(with: completion)
        if !isAccepted, case .using(let future) = completion { future.cancel() }
        return isAccepted
    }

    private func complete(with completion: FutureCompletion<Value>) -> Bool {
        switch completion {
        case .success(let value): succeed(value)
        case .failure(let error): fail(error)
        case .cancelled: cancel()
        case .using(let other): complete(using: other)
        }
    }
}

extension EventLoop {
    /// A future that has failed with ``FutureError/message(_:)``.
    public func failed<Value>(_ message: String, of _: Value.Type = Value.self) -> Future<Value> {
        failed(FutureError.message(message))
    }

    /// A future that completes in the way that `completing` says.
    public func completed<C: Completing>(_ completing: C) -> Future<C.Value> {
        core.checkThread()
        let cell = Cell.plain(core, state: .pending, of: C.Value.self)
        cell.pointer.complete(with: completing.completion)
        return Future(cell)
    }

    /// Runs `body` later in this turn, from the ready queue, and completes in the way that it returns.
    public func flatSubmit<C: Completing>(_ body: @escaping () throws -> C) -> Future<C.Value> {
        flatSubmit(on: .default, body)
    }

    /// As ``flatSubmit(_:)``, on `context`.
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
        do {
            target.complete(with: try body())
        } catch {
            target.fail(error)
        }
    }

    static var verb: String? { "flatSubmit" }
}
