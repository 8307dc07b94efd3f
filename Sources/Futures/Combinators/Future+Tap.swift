extension Future {
    /// Calls `body` with the value, and passes the value on. If `body` throws, the returned future fails with the error
    /// from `body` instead.
    @inlinable
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: { try body($0.get()) }), when: .success, on: context, token: token)
    }

    /// Calls `body` with the error, and passes the error on. If `body` throws, the returned future fails with a
    /// ``CleanUpError``, which holds both errors.
    ///
    /// If `policy` includes cancellation, `body` is also called when the returned future itself is cancelled: exactly
    /// once, after the closures of futures upstream. If cancellation comes from upstream and `body` throws, the
    /// returned future fails with the error from `body`.
    ///
    /// ```swift
    /// let page = fetch("index").tapError(including: .cancellation) { print("no index: \($0)") }
    /// ```
    @inlinable
    public func tapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> Void
    ) -> Future<Value> {
        let step = TapStep<Value> { if case .failure(let error) = $0 { try body(error) } }
        return cell.derive(step, when: policy.interestOfTaps, on: context, token: token)
    }

    /// Calls `body` with the outcome, and passes the outcome on. `body` gets cancellation as a `CancellationError`.
    ///
    /// If `body` throws, the returned future fails with the error from `body`. If this future has failed, the returned
    /// future fails with a ``CleanUpError`` instead, which holds both errors.
    @inlinable
    public func tapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: body), when: .all, on: context, token: token)
    }

    /// Calls `body` after any outcome, and passes the outcome on.
    ///
    /// `body` is called exactly once: after a value, after an error or after cancellation. `body` is also called if the
    /// returned future itself is cancelled first.
    ///
    /// ```swift
    /// count += 1
    /// let page = fetch("index").always { count -= 1 }
    /// ```
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

    @inlinable func run(source: CellPointer, target: CellPointer) {
        let result = source.readResult(as: Output.self)
        do {
            try body(result)
            target.complete(result)
        } catch {
            target.fail(result.thrown(byCleanUp: error))
        }
    }
}
