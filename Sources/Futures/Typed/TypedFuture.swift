/// A future that fails with one type of error only. The compiler checks that: its closures can throw no other error,
/// and handling the failure needs no cast. A future with the failure type `Never` cannot fail.
///
/// Whatever the type says, a future may be cancelled, and may be left without anybody to complete it. Both are
/// outside of `Failure` and pass by its handlers. They show in ``result`` and ``value`` as ``FutureFailure``.
/// Everything else is as with ``Future``, except that a failure passes through a `map` no faster than a value does.
public struct TypedFuture<Value, Failure: Error> {
    /// The outcome of this future as a value. It fails only as ``FutureFailure/broken(_:)`` says.
    let outcome: Future<Result<Value, Failure>>

    init(_ outcome: Future<Result<Value, Failure>>) {
        outcome.cell.holdResult()
        self.outcome = outcome
    }

    /// The loop that the future belongs to.
    public var loop: EventLoop { outcome.loop }

    /// Whether the future has completed, in any way.
    public var isCompleted: Bool { outcome.isCompleted }

    /// The outcome, or `nil` as long as the future is pending. Does not count as having heard of a failure.
    public var result: Result<Value, FutureFailure<Failure>>? {
        outcome.result.map(Self.flattened)
    }

    /// Asks for the future to be cancelled, as ``Future/cancel()`` does.
    @discardableResult
    public func cancel() -> Bool { outcome.cancel() }

    /// Declares that nobody need hear of a failure of this future, or of its being broken.
    @discardableResult
    public func ignoreFailure() -> TypedFuture {
        outcome.ignoreFailure()
        return self
    }

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
    /// The value. Throws the reason if there is none. Returns at once if the future has completed.
    ///
    /// Read it on the loop's thread. Otherwise like ``Future/value``.
    public var value: Value {
        get async throws(FutureFailure<Failure>) {
            let result: Result<Value, Failure>
            do {
                result = try await outcome.value
            } catch {
                throw FutureFailure(untyped: error)
            }
            switch result {
            case .success(let value): return value
            case .failure(let failure): throw .failure(failure)
            }
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
        case .failure(.cancelled): "TypedFuture(cancelled)"
        case .failure(.broken(let error)): "TypedFuture(broken: \(error))"
        }
    }
}
