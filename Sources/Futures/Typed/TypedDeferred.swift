/// A recipe for a ``TypedFuture``. Nothing happens until it is started, and each start does the work anew.
///
/// It is a value that may be kept, combined and started any number of times. It remembers no outcome.
public struct TypedDeferred<Value, Failure: Error> {
    private let make: () -> TypedFuture<Value, Failure>

    /// Creates a recipe that calls `make` at each start.
    public init(_ make: @escaping () -> TypedFuture<Value, Failure>) { self.make = make }

    /// Creates a recipe that calls `operation` at each start, with the closure that completes the future.
    ///
    /// `operation` calls the closure once, on the loop's thread, now or later. Further calls change nothing. If the
    /// closure is released uncalled, the future is broken.
    public init(
        on loop: EventLoop,
        operation: @escaping (_ complete: @escaping (Result<Value, Failure>) -> Void) -> Void,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        let loop = loop.core
        self.init {
            let promise = loop.makePromise(of: Value.self, failingWith: Failure.self, file: file, line: line)
            operation { result in promise.complete(result) }
            return promise.future
        }
    }

    /// Creates a recipe for a future that has completed with `result`.
    public init(result: Result<Value, Failure>, on loop: EventLoop) {
        let loop = loop.core
        self.init { .completed(result, on: loop) }
    }

    /// Creates a recipe for a future that has completed with `value`.
    public init(value: Value, on loop: EventLoop) { self.init(result: .success(value), on: loop) }

    /// Creates a recipe for a future that has failed with `failure`.
    public init(failure: Failure, on loop: EventLoop) { self.init(result: .failure(failure), on: loop) }

    /// Does the work, and completes with its outcome.
    public func start() -> TypedFuture<Value, Failure> { make() }

    /// Does the work, and calls `body` with its outcome.
    public func start(_ body: @escaping (Result<Value, FutureFailure<Failure>>) -> Void) {
        make().whenComplete(body)
    }

    /// Transforms the value with `transform`: `TypedFuture.map` at each start.
    public func map<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedDeferred<NewValue, Failure> {
        TypedDeferred<NewValue, Failure> { make().map(transform) }
    }

    /// Runs this recipe, and then the one that `transform` makes of the value.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> TypedDeferred<NewValue, Failure>
    ) -> TypedDeferred<NewValue, Failure> {
        TypedDeferred<NewValue, Failure> {
            make().flatMap { (value) throws(Failure) in try transform(value).start() }
        }
    }

    /// Transforms the failure with `transform`: `TypedFuture.mapError` at each start.
    public func mapError<NewFailure: Error>(
        _ transform: @escaping (Failure) -> NewFailure
    ) -> TypedDeferred<Value, NewFailure> {
        TypedDeferred<Value, NewFailure> { make().mapError(transform) }
    }

    /// Replaces a failure with the value that `body` returns: `TypedFuture.recover` at each start. The result cannot
    /// fail.
    public func recover(_ body: @escaping (Failure) -> Value) -> TypedDeferred<Value, Never> {
        TypedDeferred<Value, Never> { make().recover(body) }
    }
}
