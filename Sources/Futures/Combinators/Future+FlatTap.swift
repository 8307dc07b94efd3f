extension Future {
    /// Calls `body` with the value, and waits for the completion that `body` returns, for example a future.
    /// Then passes the value on. An error or a cancellation of this future is passed on without a call.
    ///
    /// If `body` throws, the returned future fails with that error. If the completion fails or is cancelled,
    /// the returned future fails with the same error or is cancelled.
    ///
    /// ```swift
    /// let saved = future.flatTap { save($0) }    // Has the value of `future`, once that is saved.
    /// ```
    public func flatTap<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in
            let value = try result.get()
            return try body(value).completion.map { _ in value }
        }
        return cell.derive(Named(FlatTap.self, step), when: .success, on: context, token: token)
    }

    /// Calls `body` with the error, and waits for the completion that `body` returns, for example a future.
    /// Then passes the error on. A value is passed on without a call.
    ///
    /// `policy` says whether `body` is also called for a cancellation. If `body` throws, or the completion
    /// fails or is cancelled, the returned future fails with a ``CleanUpError``, which holds both errors. If
    /// this future was cancelled, there is no ``CleanUpError``: the returned future then fails with the error
    /// of `body` or of the completion, or is cancelled.
    public func flatTapError<C: Completing>(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in
            result.after(C.completion { try body(result.thrownError!) })
        }
        return cell.derive(Named(FlatTapError.self, step), when: policy.interest, on: context, token: token)
    }

    /// Calls `body` with the outcome, and waits for the completion that `body` returns, for example a future.
    /// Then passes the outcome on. `body` gets cancellation as a `CancellationError`.
    ///
    /// If `body` throws, or the completion fails or is cancelled, the outcome is not passed on. The returned
    /// future then fails with the error of `body` or of the completion, or is cancelled. If this future had
    /// failed too, the returned future fails with a ``CleanUpError``, which holds both errors.
    public func flatTapResult<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in result.after(C.completion { try body(result) }) }
        return cell.derive(Named(FlatTapResult.self, step), when: .all, on: context, token: token)
    }

    /// Calls `body` after any outcome, and waits for the clean-up that `body` returns, for example a future.
    /// Then passes the outcome on.
    ///
    /// `body` is called exactly once: after a value, after an error or after a cancellation. If `body`
    /// throws, or the clean-up fails or is cancelled, the outcome is not passed on. The returned future then
    /// fails with the error of `body` or of the clean-up, or is cancelled. If this future had failed too, the
    /// returned future fails with a ``CleanUpError``, which holds both errors.
    ///
    /// If you cancel the returned future itself, `body` is called too. In that case the returned future does
    /// not wait for the clean-up, and a failure of the clean-up is reported as unhandled.
    ///
    /// ```swift
    /// let line = connection.readLine().flatAlways { connection.close() }
    /// ```
    public func flatAlways<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> C
    ) -> Future<Value> {
        cell.derive(CleanUpStep<Value, C>(body: body), when: [.all, .afterCancel], on: context, token: token)
    }
}

private enum FlatTap: Verb { static var verb: String { "flatTap" } }
private enum FlatTapError: Verb { static var verb: String { "flatTapError" } }
private enum FlatTapResult: Verb { static var verb: String { "flatTapResult" } }

private struct CleanUpStep<Output, C: Completing>: Step {
    let body: () throws -> C

    func run(source: CellPointer, target: CellPointer) {
        let wasOpen = target.isOpen
        let cleanUp = C.completion(catching: body)
        // If `target` was cancelled meanwhile, nobody needs the outcome of this future any more.
        let result: Result<Output, any Error> =
            target.isOpen ? source.readResult(as: Output.self) : .failure(CancellationError())
        let outcome = result.after(cleanUp)
        guard target.isOpen else {
            // The future of the clean-up is released at once, so that its failure is reported as unhandled.
            let ending = target.withLoop { $0.completed(outcome) }
            // A clean-up that was started after the cancellation runs to its end.
            if wasOpen { ending.cancel() }
            return
        }
        target.complete(with: outcome)
    }

    static var verb: String? { "flatAlways" }
}
