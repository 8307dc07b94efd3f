extension Future {
    /// Waits for what `body` returns for the value, and passes the value on when that has succeeded.
    ///
    /// If that fails or is cancelled, or `body` throws, the returned future has that outcome.
    ///
    /// ```swift
    /// let saved = future.flatTap { save($0) }    // Has the number that was saved.
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

    /// Waits for what `body` returns for the error, and passes the error on.
    ///
    /// If that fails or is cancelled, or `body` throws, fails with a ``CleanUpError``, which has both errors.
    public func flatTapError<C: Completing>(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in
            result.after(C.completion { try body(result.thrownError!) })
        }
        return cell.derive(
            Named(FlatTapError.self, step), when: policy.interest, on: context, token: token)
    }

    /// Waits for what `body` returns for the outcome, and passes the outcome on.
    ///
    /// If that fails or is cancelled, or `body` throws, the returned future has that outcome. After an error it fails
    /// with a ``CleanUpError``, which has both.
    public func flatTapResult<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in result.after(C.completion { try body(result) }) }
        return cell.derive(Named(FlatTapResult.self, step), when: .all, on: context, token: token)
    }

    /// Waits for the clean-up that `body` returns, and passes the outcome on.
    ///
    /// `body` runs exactly once, on value, error and cancellation alike. If the clean-up fails or is cancelled, or
    /// `body` throws, the returned future has that outcome. After an error it fails with a ``CleanUpError``, which has
    /// both.
    ///
    /// `body` also runs when the returned future itself is cancelled. That does not wait for the clean-up, and a
    /// failure of the clean-up is then reported as unhandled.
    ///
    /// ```swift
    /// let line = connection.readLine().flatAlways { connection.close() }
    /// ```
    public func flatAlways<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> C
    ) -> Future<Value> {
        cell.derive(CleanUpStep<Value, C>(body), when: [.all, .afterCancel], on: context, token: token)
    }
}

private enum FlatTap: Verb { static var verb: String { "flatTap" } }
private enum FlatTapError: Verb { static var verb: String { "flatTapError" } }
private enum FlatTapResult: Verb { static var verb: String { "flatTapResult" } }

private struct CleanUpStep<Output, C: Completing>: Step {
    let body: () throws -> C

    init(_ body: @escaping () throws -> C) { self.body = body }

    func run(source: CellPointer, target: CellPointer) {
        let wasOpen = target.isOpen
        let cleanUp = C.completion(catching: body)
        // Who has cancelled it does not care for what it was to pass on.
        let result: Result<Output, any Error> =
            target.isOpen ? source.readResult(as: Output.self) : .failure(CancellationError())
        let outcome = result.after(cleanUp)
        guard target.isOpen else {
            // Released at once, and so reported if it fails: nobody waits for it any more.
            let ending = target.withLoop { $0.completed(outcome) }
            // Started for a future that is cancelled, it runs to its end.
            if wasOpen { ending.cancel() }
            return
        }
        target.complete(with: outcome)
    }

    static var verb: String? { "flatAlways" }
}
