// Completion handlers, to be handed to callback APIs as they are: `fetch(url, completion: promise.resolve)`.
//
// The first call counts, later ones change nothing. An error wins over a value that comes with it. With neither
// the future fails with ``FutureError/invalidCallback``. A handler keeps the promise: an API that drops it uncalled
// breaks the promise, and no future is left pending. The API has to call it on the loop's thread; one that calls
// from elsewhere needs a promise that other threads may complete; the compiler refuses this one.

extension Promise {
    /// Completes the future from a `(Value) -> Void` callback.
    public func resolve(_ value: Value) { succeed(value) }

    /// Completes the future from a `(Result<Value, Failure>) -> Void` callback.
    public func resolve<Failure>(_ result: Result<Value, Failure>) {
        complete(result.mapError { $0 as any Error })
    }

    /// Completes the future from a `(Value?, (any Error)?) -> Void` callback.
    ///
    /// ```swift
    /// let page = loop.makePromise(of: Data.self)
    /// download("index", completion: page.resolve)
    /// ```
    public func resolve(_ value: Value?, _ error: (any Error)?) {
        if let error {
            fail(error)
        } else if let value {
            succeed(value)
        } else {
            fail(FutureError.invalidCallback)
        }
    }

    /// Completes the future from a `(Value, (any Error)?) -> Void` callback. Ignores the value if there is an error.
    public func resolve(_ value: Value, _ error: (any Error)?) { resolve(.some(value), error) }

    /// Completes the future from a `((any Error)?, Value?) -> Void` callback.
    public func resolve(_ error: (any Error)?, _ value: Value?) { resolve(value, error) }

    /// Completes the future from an `(A, B) -> Void` callback.
    public func resolve<A, B>(_ first: A, _ second: B) where Value == (A, B) { succeed((first, second)) }

    /// Completes the future from an `(A?, B?, (any Error)?) -> Void` callback. If one of the two values is `nil`, both
    /// count as missing.
    public func resolve<A, B>(_ first: A?, _ second: B?, _ error: (any Error)?) where Value == (A, B) {
        if let first, let second { resolve((first, second), error) } else { resolve(nil, error) }
    }
}

extension Promise where Value == Void {
    /// Completes the future from a `() -> Void` callback.
    public func resolve() { succeed() }

    /// Completes the future from an `((any Error)?) -> Void` callback. The future succeeds if there is no error.
    public func resolve(_ error: (any Error)?) { resolve((), error) }

    /// Completes the future from a `(Bool, (any Error)?) -> Void` callback. If the flag is `false` and there is no
    /// error, the future fails with ``FutureError/invalidCallback``.
    public func resolve(_ isSuccess: Bool, _ error: (any Error)?) { resolve(isSuccess ? () : nil, error) }
}
