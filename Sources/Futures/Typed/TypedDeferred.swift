/// A recipe for a ``TypedFuture``. The work begins only when you start the recipe. Each start does the work
/// again.
///
/// A recipe is a value: you may keep it, combine it with others, and start it any number of times. A recipe
/// keeps no outcome.
public struct TypedDeferred<Value, Failure: Error> {
    private let make: () -> TypedFuture<Value, Failure>

    /// Creates a recipe. Each start of the recipe calls `make`, and gets the future that `make` returns.
    public init(_ make: @escaping () -> TypedFuture<Value, Failure>) { self.make = make }

    /// Creates a recipe. Each start of the recipe calls `operation` with a closure, `complete`, that
    /// completes the future of that start.
    ///
    /// `operation` has to call `complete` once, on the loop's thread, at once or later. Further calls change
    /// nothing. If `complete` is released without a call, the future ends as ``FutureFailure/broken(_:)``
    /// with ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
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

    /// Creates a recipe that needs no work: each start returns a future that has completed with `result`.
    public init(result: Result<Value, Failure>, on loop: EventLoop) {
        let loop = loop.core
        self.init { .completed(result, on: loop) }
    }

    /// Starts the work, and returns a future for the outcome of the work.
    public func start() -> TypedFuture<Value, Failure> { make() }

    /// Returns a recipe that runs this recipe and then transforms the value with `transform`. If `transform`
    /// throws, the outcome is the failure that `transform` throws.
    public func map<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedDeferred<NewValue, Failure> { self.transform { $0.map(transform) } }

    /// Returns a recipe that first runs this recipe, then calls `transform` with the value, and then runs the
    /// recipe that `transform` returns. The outcome is the outcome of that second recipe.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> TypedDeferred<NewValue, Failure>
    ) -> TypedDeferred<NewValue, Failure> {
        self.transform { $0.flatMap { (value) throws(Failure) in try transform(value).start() } }
    }

    /// Returns a recipe that starts this recipe, and then calls `body` with the future of this recipe. The
    /// outcome is the outcome of the future that `body` returns. `body` may use any methods of
    /// ``TypedFuture``.
    public func transform<NewValue, NewFailure: Error>(
        _ body: @escaping (TypedFuture<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedDeferred<NewValue, NewFailure> { TypedDeferred<NewValue, NewFailure> { body(make()) } }
}
