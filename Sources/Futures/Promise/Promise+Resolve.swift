// Completion handlers, to be handed to callback APIs as they are: `fetch(url, completion: promise.resolve)`.
//
// The first call counts, later ones change nothing. An error wins over a value that comes with it. With neither
// the future fails with ``FutureError/invalidCallback``. A handler keeps the promise: an API that drops it uncalled
// breaks the promise, and no future is left pending. The API has to call it on the loop's thread; one that calls
// from elsewhere needs a promise that other threads may complete; the compiler refuses this one.

extension Promise {
    /// For `(Value) -> Void`.
    public func resolve(_ value: Value) { succeed(value) }

    /// For `(Result<Value, Failure>) -> Void`.
    public func resolve<Failure>(_ result: Result<Value, Failure>) {
        complete(result.mapError { $0 as any Error })
    }

    /// For `(Value?, (any Error)?) -> Void`.
    public func resolve(_ value: Value?, _ error: (any Error)?) {
        if let error {
            fail(error)
        } else if let value {
            succeed(value)
        } else {
            fail(FutureError.invalidCallback)
        }
    }

    /// For `(Value, (any Error)?) -> Void`, where the value means nothing if there is an error.
    public func resolve(_ value: Value, _ error: (any Error)?) { resolve(.some(value), error) }

    /// For `((any Error)?, Value?) -> Void`.
    public func resolve(_ error: (any Error)?, _ value: Value?) { resolve(value, error) }

    /// For `(A, B) -> Void`.
    public func resolve<A, B>(_ first: A, _ second: B) where Value == (A, B) { succeed((first, second)) }

    /// For `(A?, B?, (any Error)?) -> Void`. A value alone is as good as none.
    public func resolve<A, B>(_ first: A?, _ second: B?, _ error: (any Error)?) where Value == (A, B) {
        if let first, let second { resolve((first, second), error) } else { resolve(nil, error) }
    }
}

extension Promise where Value == Void {
    /// For `() -> Void`.
    public func resolve() { succeed() }

    /// For `((any Error)?) -> Void`: without an error all is well.
    public func resolve(_ error: (any Error)?) { resolve((), error) }

    /// For `(Bool, (any Error)?) -> Void`, where `false` without an error is a failure that says nothing.
    public func resolve(_ isSuccess: Bool, _ error: (any Error)?) { resolve(isSuccess ? () : nil, error) }
}
