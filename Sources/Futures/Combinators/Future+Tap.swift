extension Future {
    /// Calls `body` with the value, then passes the value on. If `body` throws, the returned future fails
    /// with that error. An error or a cancellation of this future is passed on without a call.
    @inlinable
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: { try body($0.get()) }), when: .success, on: context, token: token)
    }

    /// Calls `body` with the error, then passes the error on. A value is passed on without a call. If `body`
    /// throws, the returned future fails with a ``CleanUpError``, which holds both errors.
    ///
    /// `policy` says whether `body` is also called for a cancellation. If `policy` includes cancellation,
    /// `body` is also called when you cancel the returned future itself. `body` then runs exactly once, after
    /// the closures of the earlier futures in the chain. If `body` throws after a cancellation, the returned
    /// future fails with the error that `body` throws, and not with a ``CleanUpError``.
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

    /// Calls `body` with the outcome, then passes the outcome on. `body` gets cancellation as a
    /// `CancellationError`.
    ///
    /// If `body` throws after a value or a cancellation, the returned future fails with the error that `body`
    /// throws. If `body` throws after an error, the returned future fails with a ``CleanUpError``, which
    /// holds both errors.
    @inlinable
    public func tapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: body), when: .all, on: context, token: token)
    }

    /// Calls `body` after any outcome, then passes the outcome on.
    ///
    /// `body` is called exactly once: after a value, after an error or after a cancellation. If you cancel
    /// the returned future itself before this future completes, `body` is called then.
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
