extension Future {
    /// Shows the value to `body`, and passes it on. If `body` throws, fails with that error instead.
    @inlinable
    public func tap(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Value) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: { try body($0.get()) }), when: .success, on: context, token: token)
    }

    /// Shows the error to `body`, and passes it on. If `body` throws, fails with a ``CleanUpError``, which has both
    /// errors.
    ///
    /// If `policy` includes cancellation, `body` also runs when the returned future itself is cancelled: exactly once,
    /// after the closures of futures upstream. What it throws replaces a cancellation that comes from upstream.
    ///
    /// ```swift
    /// let page = fetch("index").tapError(including: .cancellation) { print("no index: \($0)") }
    /// ```
    @inlinable
    public func tapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none,
        _ body: @escaping (any Error) throws -> Void
    ) -> Future<Value> {
        let step = TapStep<Value> { result in
            if case .failure(let error) = result { try body(error) }
        }
        return cell.derive(step, when: policy.interestOfTaps, on: context, token: token)
    }

    /// Shows the outcome to `body`, and passes it on. Cancellation reads as `CancellationError`.
    ///
    /// If `body` throws, its error replaces the outcome. After an error, a ``CleanUpError`` with both errors replaces
    /// it.
    @inlinable
    public func tapResult(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> Void
    ) -> Future<Value> {
        cell.derive(TapStep(body: body), when: .all, on: context, token: token)
    }

    /// Runs `body`, and passes the outcome on.
    ///
    /// `body` runs exactly once, on value, error and cancellation alike, also when the returned future itself is
    /// cancelled first.
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
