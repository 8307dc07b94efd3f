// Completion handlers for callback APIs, as in `fetch(url, completion: promise.resolve)`.
//
// The first call completes the future, and later calls change nothing. If there are an error and a value, the
// error counts. If there is neither, the future fails with ``FutureError/invalidCallback``. A handler holds
// the promise. If an API drops the handler without a call, the promise is broken, so its future does not stay
// pending. The API must call the handler on the loop's thread. An API that calls on a different thread needs
// a `RemotePromise`: the compiler refuses a `Promise` there.

extension Promise {
    /// Completes the future with `value`. Use this method as a callback of the type `(Value) -> Void`.
    public func resolve(_ value: Value) { succeed(value) }

    /// Completes the future with `result`. Use this method as a callback of the type
    /// `(Result<Value, Failure>) -> Void`.
    public func resolve<Failure>(_ result: Result<Value, Failure>) {
        complete(result.mapError { $0 as any Error })
    }

    /// Fails the future with `error` if there is an error, and completes the future with `value` otherwise.
    /// If both are `nil`, the future fails with ``FutureError/invalidCallback``. Use this method as a
    /// callback of the type `(Value?, (any Error)?) -> Void`.
    ///
    /// ```swift
    /// let page = loop.makePromise(of: Data.self)
    /// download("index", completion: page.resolve)
    /// ```
    public func resolve(_ value: Value?, _ error: (any Error)?) {
        complete(Result(value, error))
    }

    /// Fails the future with `error` if there is an error, and completes the future with `value` otherwise.
    /// Use this method as a callback of the type `(Value, (any Error)?) -> Void`.
    public func resolve(_ value: Value, _ error: (any Error)?) { resolve(.some(value), error) }

    /// Fails the future with `error` if there is an error, and completes the future with `value` otherwise.
    /// If both are `nil`, the future fails with ``FutureError/invalidCallback``. Use this method as a
    /// callback of the type `((any Error)?, Value?) -> Void`.
    public func resolve(_ error: (any Error)?, _ value: Value?) { resolve(value, error) }

    /// Completes the future with both values. Use this method as a callback of the type `(A, B) -> Void`.
    public func resolve<A, B>(_ first: A, _ second: B) where Value == (A, B) { succeed((first, second)) }

    /// Fails the future with `error` if there is an error, and completes the future with both values
    /// otherwise. If there is no error and a value is `nil`, the future fails with
    /// ``FutureError/invalidCallback``. Use this method as a callback of the type
    /// `(A?, B?, (any Error)?) -> Void`.
    public func resolve<A, B>(_ first: A?, _ second: B?, _ error: (any Error)?) where Value == (A, B) {
        if let first, let second { resolve((first, second), error) } else { resolve(nil, error) }
    }
}

extension Promise where Value == Void {
    /// Completes the future. Use this method as a callback of the type `() -> Void`.
    public func resolve() { succeed() }

    /// Fails the future with `error` if there is an error, and completes the future otherwise. Use this
    /// method as a callback of the type `((any Error)?) -> Void`.
    public func resolve(_ error: (any Error)?) { resolve((), error) }

    /// Fails the future with `error` if there is an error. If there is no error and `isSuccess` is `true`,
    /// completes the future. If there is no error and `isSuccess` is `false`, fails the future with
    /// ``FutureError/invalidCallback``. Use this method as a callback of the type
    /// `(Bool, (any Error)?) -> Void`.
    public func resolve(_ isSuccess: Bool, _ error: (any Error)?) { resolve(isSuccess ? () : nil, error) }
}
