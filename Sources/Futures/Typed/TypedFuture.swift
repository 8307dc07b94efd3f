/// A future that fails only with errors of one type, `Failure`. The compiler checks this: the closures that
/// the methods take can throw no other errors. So a handler of the failure needs no cast. A future with the
/// failure type `Never` cannot fail.
///
/// Whatever the failure type is, a future can also be cancelled or broken. A broken future has ended with an
/// error that is not a `Failure`, in most cases because nothing is left that could complete the future.
/// Handlers of the failure are not called for a cancelled future or for a broken future. ``result`` and
/// ``value`` show both cases as a ``FutureFailure``.
///
/// Everything else is the same as for ``Future``, with one exception. Through a `map` of a ``Future``, a
/// failure passes faster than a value. Through a `map` of a typed future, a failure passes no faster than a
/// value.
public struct TypedFuture<Value, Failure: Error> {
    /// The future whose value is the outcome of this future. It fails only if this future is broken.
    let outcome: Future<Result<Value, Failure>>

    init(_ outcome: Future<Result<Value, Failure>>) {
        outcome.cell.holdResult()
        self.outcome = outcome
    }

    /// The loop that the future belongs to.
    public var loop: EventLoop { outcome.loop }

    /// Whether the future has completed: with a value, with an error, or as cancelled.
    public var isCompleted: Bool { outcome.isCompleted }

    /// The outcome, or `nil` while the future is pending. Reading a failure here does not count as handling
    /// it: the failure is still reported as unhandled.
    public var result: Result<Value, FutureFailure<Failure>>? { outcome.result.map(Self.flattened) }

    /// Asks this future to cancel, as ``Future/cancel()`` does.
    @discardableResult
    public func cancel() -> Bool { outcome.cancel() }

    /// Marks a failure of this future as handled, so that the loop never reports it as unhandled. Does the
    /// same for the error of a broken future. Returns this future.
    @discardableResult
    public func ignoreFailure() -> TypedFuture {
        outcome.ignoreFailure()
        return self
    }

    /// Returns the outcome of a typed future for the outcome of its `outcome` future.
    static func flattened(
        _ outcome: Result<Result<Value, Failure>, any Error>
    ) -> Result<Value, FutureFailure<Failure>> {
        switch outcome {
        case .success(.success(let value)): .success(value)
        case .success(.failure(let failure)): .failure(.failure(failure))
        case .failure(let error): .failure(FutureFailure(untyped: error))
        }
    }
}

extension TypedFuture {
    /// Returns a future that has completed with `value`.
    public static func succeeded(_ value: Value, on loop: EventLoop) -> TypedFuture {
        completed(.success(value), on: loop)
    }

    /// Returns a future that has failed with `failure`.
    public static func failed(_ failure: Failure, on loop: EventLoop) -> TypedFuture {
        completed(.failure(failure), on: loop)
    }

    /// Returns a future that has completed with `result`.
    public static func completed(_ result: Result<Value, Failure>, on loop: EventLoop) -> TypedFuture {
        TypedFuture(loop.succeeded(result))
    }
}

extension TypedFuture {
    /// The value. Reading this property waits until the future has completed. If there is no value, the read
    /// throws a ``FutureFailure``. If the future has completed already, the read does not suspend.
    ///
    /// Read this property on the loop's thread. Everything else is the same as for ``Future/value``.
    public var value: Value {
        get async throws(FutureFailure<Failure>) {
            let result: Result<Result<Value, Failure>, any Error>
            do { result = .success(try await outcome.value) } catch { result = .failure(error) }
            return try Self.flattened(result).get()
        }
    }
}

@available(
    *, unavailable, message: "A future belongs to its loop's thread; go there with loop.execute { … }."
)
extension TypedFuture: Sendable {}

extension TypedFuture: CustomStringConvertible {
    public var description: String {
        switch result {
        case nil: "TypedFuture(pending)"
        case .success(let value): "TypedFuture(success: \(value))"
        case .failure(.failure(let failure)): "TypedFuture(failure: \(failure))"
        case .failure(let end): "TypedFuture(\(end))"
        }
    }
}
