/// A recipe for a ``TypedFuture``. Nothing happens until the recipe is started. Each start does the work
/// anew.
///
/// A recipe is a value that may be kept, combined and started any number of times. It keeps no outcome.
public struct TypedDeferred<Value, Failure: Error> {
    private let make: () -> TypedFuture<Value, Failure>

    /// Creates a recipe that calls `make` at each start.
    public init(_ make: @escaping () -> TypedFuture<Value, Failure>) { self.make = make }

    /// Creates a recipe that calls `operation` at each start. `operation` gets a closure that completes the
    /// future.
    ///
    /// `operation` has to call this closure once, on the loop's thread, now or later. Further calls change
    /// nothing. If the closure is released without a call, the future is broken.
    ///
    /// ```swift
    /// let page = TypedDeferred<Data, Failure>(on: loop) { complete in
    ///     download("index") { data, _ in complete(data.map { .success($0) } ?? .failure(Failure())) }
    /// }
    /// ```
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

    /// Does the work, and completes with the outcome of the work.
    public func start() -> TypedFuture<Value, Failure> { make() }

    /// Transforms the value with `transform` after each start, as `TypedFuture.map` does.
    public func map<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedDeferred<NewValue, Failure> { self.transform { $0.map(transform) } }

    /// Starts this recipe, and then starts the recipe that `transform` returns for the value.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> TypedDeferred<NewValue, Failure>
    ) -> TypedDeferred<NewValue, Failure> {
        self.transform { $0.flatMap { (value) throws(Failure) in try transform(value).start() } }
    }

    /// Returns a recipe that does the work and completes with the future that `body` returns. `body` gets the
    /// future of the work, and may use any methods of ``TypedFuture``.
    public func transform<NewValue, NewFailure: Error>(
        _ body: @escaping (TypedFuture<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedDeferred<NewValue, NewFailure> { TypedDeferred<NewValue, NewFailure> { body(make()) } }
}
