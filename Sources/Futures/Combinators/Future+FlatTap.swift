extension Future {
    /// A future with this outcome, which completes after what `body` returns for the value has succeeded.
    ///
    /// If that fails or is cancelled, or `body` throws, that is the outcome.
    public func flatTap<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> C
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in
            let value = try result.get()
            return try body(value).completion.map { _ in value }
        }
        return cell.derive(step, when: .success, on: context, token: token)
    }

    /// A future with this outcome, which completes after what `body` returns for the error has succeeded.
    ///
    /// If that fails or is cancelled, or `body` throws, that is the outcome.
    public func flatTapError<C: Completing>(
        including policy: RecoverPolicy = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> C
    ) -> Future<Value> {
        flatMapError(including: policy, on: context, token: token) { error in
            try body(error).completion.map { _ in throw error }
        }
    }

    /// A future with this outcome, which completes after what `body` returns for the outcome has succeeded.
    ///
    /// If that fails or is cancelled, or `body` throws, that is the outcome.
    public func flatTapResult<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> C
    ) -> Future<Value> {
        flatMapResult(on: context, token: token) { result in
            try body(result).completion.map { _ in try result.get() }
        }
    }

    /// A future with this outcome, which completes after the clean-up that `body` returns has succeeded.
    ///
    /// `body` runs exactly once, on value, error and cancellation alike. If the clean-up fails or is cancelled,
    /// or `body` throws, that is the outcome. It also runs when the returned future itself is cancelled; that
    /// does not wait for it, and a failure of it is then reported as unhandled.
    public func flatAlways<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () throws -> C
    ) -> Future<Value> {
        let step = CleanUpStep<Value> { try body().completion.map { _ in } }
        return cell.derive(step, when: [.all, .afterCancel], on: context, token: token)
    }
}

private struct CleanUpStep<Output>: Step {
    let body: () throws -> Completion<Void>

    init(_ body: @escaping () throws -> Completion<Void>) { self.body = body }

    func run(source: Cell, target: Cell) {
        let wasOpen = target.isOpen
        let cleanUp = start()
        guard target.isOpen else {
            // Released at once, and so reported if it fails: nobody waits for it any more.
            let ending = target.withLoop { $0.completed(cleanUp).asVoid() }
            // Started for a future that is cancelled, it runs to its end.
            if wasOpen { ending.cancel() }
            return
        }
        let result = source.readResult(as: Output.self)
        target.complete(with: cleanUp.map { _ in try result.get() })
    }

    private func start() -> Completion<Void> {
        do {
            return try body()
        } catch {
            return .failure(error)
        }
    }
}
