// Completion handlers for callback APIs, as in `fetch(url, completion: promise.resolve)`.
//
// The first call completes the future, and later calls change nothing. If there are an error and a value, the
// error counts. If there is neither, the future fails with ``FutureError/invalidCallback``. A handler holds
// the promise. If an API drops the handler without a call, the promise is broken, so its future does not stay
// pending. The API must call the handler on the loop's thread. An API that calls on a different thread needs
// a `RemotePromise`: the compiler refuses a `Promise` there.

extension Promise {
    /// Completes the future with `value`. Fits an API that takes a `(Value) -> Void` callback.
    public func resolve(_ value: Value) { succeed(value) }

    /// Completes the future with `result`. Fits an API that takes a `(Result<Value, Failure>) -> Void`
    /// callback.
    public func resolve<Failure>(_ result: Result<Value, Failure>) {
        complete(result.mapError { $0 as any Error })
    }

    /// Completes the future with `error` if there is an error, and with `value` otherwise. Fits an API that
    /// takes a `(Value?, (any Error)?) -> Void` callback. If both are `nil`, the future fails with
    /// ``FutureError/invalidCallback``.
    ///
    /// ```swift
    /// let page = loop.makePromise(of: Data.self)
    /// download("index", completion: page.resolve)
    /// ```
    public func resolve(_ value: Value?, _ error: (any Error)?) {
        complete(Result(value, error))
    }

    /// Completes the future with `error` if there is an error, and with `value` otherwise. Fits an API that
    /// takes a `(Value, (any Error)?) -> Void` callback.
    public func resolve(_ value: Value, _ error: (any Error)?) { resolve(.some(value), error) }

    /// Completes the future with `error` if there is an error, and with `value` otherwise. Fits an API that
    /// takes a `((any Error)?, Value?) -> Void` callback. If both are `nil`, the future fails with
    /// ``FutureError/invalidCallback``.
    public func resolve(_ error: (any Error)?, _ value: Value?) { resolve(value, error) }

    /// Completes the future with both values. Fits an API that takes an `(A, B) -> Void` callback.
    public func resolve<A, B>(_ first: A, _ second: B) where Value == (A, B) { succeed((first, second)) }

    /// Completes the future with `error` if there is an error, and with both values otherwise. Fits an API
    /// that takes an `(A?, B?, (any Error)?) -> Void` callback. If there is no error and a value is `nil`,
    /// the future fails with ``FutureError/invalidCallback``.
    public func resolve<A, B>(_ first: A?, _ second: B?, _ error: (any Error)?) where Value == (A, B) {
        if let first, let second { resolve((first, second), error) } else { resolve(nil, error) }
    }
}

extension Promise where Value == Void {
    /// Completes the future. Fits an API that takes a `() -> Void` callback.
    public func resolve() { succeed() }

    /// Fails the future with `error`, or completes the future if there is no error. Fits an API that takes an
    /// `((any Error)?) -> Void` callback.
    public func resolve(_ error: (any Error)?) { resolve((), error) }

    /// Fails the future with `error`, or completes the future if there is no error and `isSuccess` is `true`.
    /// Fits an API that takes a `(Bool, (any Error)?) -> Void` callback. If `isSuccess` is `false` and there
    /// is no error, the future fails with ``FutureError/invalidCallback``.
    public func resolve(_ isSuccess: Bool, _ error: (any Error)?) { resolve(isSuccess ? () : nil, error) }
}
