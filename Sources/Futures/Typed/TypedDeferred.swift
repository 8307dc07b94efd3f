/// A recipe for a ``TypedFuture``. The work begins only when you start the recipe. Each start does the work
/// again.
///
/// A recipe is a value: you may keep it, combine it with others, and start it any number of times. A recipe
/// keeps no outcome.
public struct TypedDeferred<Value, Failure: Error> {
    private let make: () -> TypedFuture<Value, Failure>

    /// Creates a recipe that calls `make` at each start.
    public init(_ make: @escaping () -> TypedFuture<Value, Failure>) { self.make = make }

    /// Creates a recipe that calls `operation` at each start. `operation` gets a closure that completes the
    /// future.
    ///
    /// `operation` has to call this closure once, on the loop's thread, during the call of `operation` or
    /// later. Further calls change nothing. If the closure is released without a call, the future ends as
    /// ``FutureFailure/broken(_:)`` with ``FutureError/brokenPromise(file:line:)``.
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

    /// Starts the work, and completes with the outcome of the work.
    public func start() -> TypedFuture<Value, Failure> { make() }

    /// Returns a recipe that transforms the value of this recipe with `transform`, as `TypedFuture.map` does.
    public func map<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedDeferred<NewValue, Failure> { self.transform { $0.map(transform) } }

    /// Returns a recipe that first starts this recipe, and then the recipe that `transform` returns for the
    /// value.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> TypedDeferred<NewValue, Failure>
    ) -> TypedDeferred<NewValue, Failure> {
        self.transform { $0.flatMap { (value) throws(Failure) in try transform(value).start() } }
    }

    /// Returns a recipe that starts this recipe and completes with the outcome of the future that `body`
    /// returns. `body` gets the future of this recipe, and may use any methods of ``TypedFuture``.
    public func transform<NewValue, NewFailure: Error>(
        _ body: @escaping (TypedFuture<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedDeferred<NewValue, NewFailure> { TypedDeferred<NewValue, NewFailure> { body(make()) } }
}
