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

    /// Does the work, and completes with its outcome.
    public func start() -> TypedFuture<Value, Failure> { make() }

    /// Transforms the value with `transform`: `TypedFuture.map` at each start.
    public func map<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> NewValue
    ) -> TypedDeferred<NewValue, Failure> {
        self.transform { $0.map(transform) }
    }

    /// Runs this recipe, and then the one that `transform` makes of the value.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws(Failure) -> TypedDeferred<NewValue, Failure>
    ) -> TypedDeferred<NewValue, Failure> {
        TypedDeferred<NewValue, Failure> {
            make().flatMap { (value) throws(Failure) in try transform(value).start() }
        }
    }

    /// Does the work, and transforms its future with `body`: with any verb of ``TypedFuture``, or several.
    public func transform<NewValue, NewFailure: Error>(
        _ body: @escaping (TypedFuture<Value, Failure>) -> TypedFuture<NewValue, NewFailure>
    ) -> TypedDeferred<NewValue, NewFailure> {
        TypedDeferred<NewValue, NewFailure> { body(make()) }
    }
}
