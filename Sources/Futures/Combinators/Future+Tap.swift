extension Future {
    /// A future with this outcome, which completes after `body` has seen the value. What `body` throws replaces it.
    @inlinable
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: { try body($0.get()) }), when: .success, on: context, token: token)
    }

    /// Shows the error to `body`, and passes it on. If `body` throws, fails with a ``CleanUpError``, which has both.
    @inlinable
    public func tapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none,
        _ body: @escaping (any Error) throws -> Void
    ) -> Future<Value> {
        recover(including: policy, on: context, token: token) { error in
            do { try body(error) } catch let second {
                throw Result<Value, any Error>.failure(error).thrown(byCleanUp: second)
            }
            throw error
        }
    }

    /// Shows the outcome to `body`, and passes it on. Cancellation reads as `CancellationError`.
    ///
    /// What `body` throws replaces the outcome; after an error it is a ``CleanUpError``, which has both.
    @inlinable
    public func tapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: body), when: .all, on: context, token: token)
    }

    /// A future with this outcome, which completes after `body` has run. It runs exactly once, on value, error
    /// and cancellation alike, also when the returned future itself is cancelled first.
    @inlinable
    public func always(
        on context: LocalContext = .default, token: CancellationToken = .none, _ body: @escaping () -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: { _ in body() }), when: [.all, .afterCancel], on: context, token: token)
    }
}

@usableFromInline
struct TapStep<Output>: Step {
    @usableFromInline let body: (Result<Output, any Error>) throws -> Void

    @inlinable init(body: @escaping (Result<Output, any Error>) throws -> Void) { self.body = body }

    @inlinable
    func run(source: CellPointer, target: CellPointer) {
        let result = source.readResult(as: Output.self)
        do {
            try body(result)
            target.complete(result)
        } catch {
            target.fail(result.thrown(byCleanUp: error))
        }
    }
}
