extension Future {
    /// A future with this outcome, which completes after `body` has seen the value. What `body` throws replaces it.
    @inlinable
    public func tap(_ body: @escaping (Value) throws -> Void) -> Future<Value> {
        cell.derive(TapStep(body: { try body($0.get()) }), when: .success)
    }

    /// A future with this outcome, which completes after `body` has seen the error. What `body` throws replaces it.
    @inlinable
    public func tapError(
        including policy: RecoverPolicy = .failure, _ body: @escaping (any Error) throws -> Void
    ) -> Future<Value> {
        recover(including: policy) { error in
            try body(error)
            throw error
        }
    }

    /// A future with this outcome, which completes after `body` has seen it. What `body` throws replaces it.
    /// Cancellation reads as `CancellationError`.
    @inlinable
    public func tapResult(_ body: @escaping (Result<Value, any Error>) throws -> Void) -> Future<Value> {
        cell.derive(TapStep(body: body), when: .all)
    }

    /// A future with this outcome, which completes after `body` has run. It runs exactly once, on value, error
    /// and cancellation alike, also when the returned future itself is cancelled first.
    @inlinable
    public func always(_ body: @escaping () -> Void) -> Future<Value> {
        cell.derive(TapStep(body: { _ in body() }), when: [.all, .afterCancel])
    }
}

@usableFromInline
struct TapStep<Output>: Step {
    @usableFromInline let body: (Result<Output, any Error>) throws -> Void

    @inlinable init(body: @escaping (Result<Output, any Error>) throws -> Void) { self.body = body }

    @inlinable
    func run(source: Cell, target: Cell) {
        let result = source.readResult(as: Output.self)
        do {
            try body(result)
            target.complete(result)
        } catch {
            target.fail(error)
        }
    }
}
