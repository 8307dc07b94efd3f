/// A future that fails with one type of error only. The compiler checks this: the closures that its methods
/// take can throw no other error. A handler of the failure needs no cast. A future with the failure type
/// `Never` cannot fail.
///
/// With any failure type, a future may be cancelled. A future may also be broken: then nothing is left that
/// could complete it. Cancellation and a broken future are not a `Failure`, so handlers of the failure are
/// not called for them. ``result`` and ``value`` show both as a ``FutureFailure``. Everything else is as with
/// ``Future``, with one exception: a failure passes through a `map` no faster than a value does.
public struct TypedFuture<Value, Failure: Error> {
    /// The future whose value is the outcome of this future. It fails only if this future is broken.
    let outcome: Future<Result<Value, Failure>>

    init(_ outcome: Future<Result<Value, Failure>>) {
        outcome.cell.holdResult()
        self.outcome = outcome
    }

    /// The loop that the future belongs to.
    public var loop: EventLoop { outcome.loop }

    /// Whether the future has completed, with any outcome.
    public var isCompleted: Bool { outcome.isCompleted }

    /// The outcome, or `nil` as long as the future is pending. Reading a failure here does not count as
    /// handling it.
    public var result: Result<Value, FutureFailure<Failure>>? { outcome.result.map(Self.flattened) }

    /// Asks this future to cancel, as ``Future/cancel()`` does.
    @discardableResult
    public func cancel() -> Bool { outcome.cancel() }

    /// Declares that nothing needs to handle a failure of this future. This also applies if the future is
    /// broken.
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
    /// The value. Waits until the future has completed, and throws a ``FutureFailure`` if there is no value.
    /// If the future has completed already, returns at once.
    ///
    /// Read this property on the loop's thread. Everything else is as with ``Future/value``.
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
