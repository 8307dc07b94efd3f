extension Future {
    /// Calls `transform` with the value, and completes the returned future with the result of `transform`.
    /// This result is, for example, a `Result`, a ``FutureCompletion`` or a future.
    ///
    /// If `transform` throws, the returned future fails with that error. An error or a cancellation of this
    /// future is passed on without a call. Traps if `transform` returns a future of a different loop.
    public func flatMap<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> C
    ) -> Future<C.Value> {
        let step = CompletingStep<Value, C.Value> { try transform($0.get()).completion }
        return cell.derive(Named(FlatMap.self, step), when: .success, on: context, token: token)
    }

    /// Calls `body` with the outcome of this future, and completes the returned future with the result of
    /// `body`. This result is, for example, a `Result`, a ``FutureCompletion`` or a future.
    ///
    /// `body` is called after any outcome, and gets cancellation as a `CancellationError`. If `body` throws,
    /// the returned future fails with that error.
    public func flatMapResult<C: Completing>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> C
    ) -> Future<C.Value> {
        let step = CompletingStep { try body($0).completion }
        return cell.derive(Named(FlatMapResult.self, step), when: .all, on: context, token: token)
    }

    /// Calls `body` with the error of this future, and completes the returned future with the result of
    /// `body`. This result is, for example, a `Result`, a ``FutureCompletion`` or a future.
    ///
    /// `policy` says whether `body` is also called for a cancellation. If this future has a value, the
    /// returned future has the same value. If `body` throws, the returned future fails with that error.
    public func flatMapError<C: Completing>(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> C
    ) -> Future<Value> where C.Value == Value {
        let step = CompletingStep<Value, Value> { try body($0.thrownError!).completion }
        return cell.derive(Named(FlatMapError.self, step), when: policy.interest, on: context, token: token)
    }
}

extension Future where Value: Completing {
    /// Turns a future of a future, or a future of a `Result`, into a simple future. If the value is a future,
    /// the returned future gets the outcome of that future. If the value is a `Result`, the returned future
    /// gets the value or the error of that `Result`.
    public func flatten() -> Future<Value.Value> {
        cell.derive(CompletingStep<Value, Value.Value> { try $0.get().completion }, when: .success)
    }
}

private enum FlatMap: Verb { static var verb: String { "flatMap" } }
private enum FlatMapResult: Verb { static var verb: String { "flatMapResult" } }
private enum FlatMapError: Verb { static var verb: String { "flatMapError" } }

struct CompletingStep<Input, Output>: Step {
    let body: (Result<Input, any Error>) throws -> FutureCompletion<Output>

    func run(source: CellPointer, target: CellPointer) {
        do { target.complete(with: try body(source.readResult(as: Input.self))) } catch { target.fail(error) }
    }
}
