/// The writing side of a ``TypedFuture``: a promise that can fail its future only with a `Failure`.
///
/// If the promise is released before it has completed its future, the future ends as
/// ``FutureFailure/broken(_:)`` with ``FutureError/brokenPromise(file:line:)``.
public final class TypedPromise<Value, Failure: Error> {
    private let promise: Promise<Result<Value, Failure>>

    fileprivate init(_ promise: Promise<Result<Value, Failure>>) { self.promise = promise }

    /// The future that this promise completes.
    public var future: TypedFuture<Value, Failure> { TypedFuture(promise.future) }

    /// Completes the future with `value`. Returns `false` if the future has already been completed or
    /// cancelled.
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(.success(value)) }

    /// Fails the future with `failure`. Returns `false` if the future has already been completed or
    /// cancelled.
    @discardableResult
    public func fail(_ failure: Failure) -> Bool { complete(.failure(failure)) }

    /// Completes the future with `result`. Returns `false` if the future has already been completed or
    /// cancelled.
    @discardableResult
    public func complete(_ result: Result<Value, Failure>) -> Bool { promise.succeed(result) }

    /// Completes the future as cancelled. Returns `false` if the future has already been completed or
    /// cancelled.
    @discardableResult
    public func cancel() -> Bool { promise.cancel() }

    /// Completes the future with the outcome of `other`, now or when `other` completes, as
    /// ``Promise/complete(using:)`` does. Returns `false` if the future has already been completed or
    /// cancelled.
    @discardableResult
    public func complete(using other: TypedFuture<Value, Failure>) -> Bool {
        promise.complete(using: other.outcome)
    }

    /// Registers `handler`, which answers a request to cancel the future, as with `Promise.onCancelRequest`.
    /// If `handler` returns `nil`, the future is cancelled now. If `handler` returns a result, the future
    /// completes with that result.
    public func onCancelRequest(_ handler: @escaping () -> Result<Value, Failure>?) {
        promise.onCancelRequest {
            if let result = handler() { .complete(.success(result)) } else { .cancel }
        }
    }
}

extension EventLoop {
    /// Creates a promise of this loop for a future that fails only with a `Failure`. If the promise is
    /// released before it has completed its future, the future ends as ``FutureFailure/broken(_:)`` with
    /// ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
    public func makePromise<Value, Failure: Error>(
        of _: Value.Type = Value.self, failingWith _: Failure.Type, file: StaticString = #fileID,
        line: UInt = #line
    ) -> TypedPromise<Value, Failure> {
        let promise = makePromise(of: Result<Value, Failure>.self, file: file, line: line)
        promise.cell.holdResult()
        return TypedPromise(promise)
    }
}

@available(
    *, unavailable, message: "A promise belongs to its loop's thread; go there with loop.execute { … }."
)
extension TypedPromise: Sendable {}
