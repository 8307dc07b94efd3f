import CNode
import UVFutures

extension Addon {
    /// A JavaScript promise with the outcome of `future`, whose value `convert` makes one of JavaScript's.
    func promise<Value>(for future: Future<Value>, _ convert: @escaping (Value) -> napi_value?) throws
        -> napi_value?
    {
        var (deferred, promise): (napi_deferred?, napi_value?)
        // It fails in a worker that is just being terminated.
        try check(napi_create_promise(env, &deferred, &promise))
        future.whenComplete { [self] result in
            enter {
                switch result {
                case .success(let value): napi_resolve_deferred(env, deferred, convert(value))
                case .failure(let error): napi_reject_deferred(env, deferred, value(error))
                }
            }
        }
        return promise
    }

    /// The outcome of a JavaScript promise. One that is collected while it is pending lets go of both functions, and
    /// so of the Swift promise, whose future then fails.
    func future(of promise: napi_value?) -> Future<Held> {
        let settled = loop.makePromise(of: Held.self)
        let fulfil = function { [self] _, arguments in
            settled.succeed(Held(arguments[0], self))
            return nil
        }
        let reject = function { [self] _, arguments in
            settled.fail(error(thrown: arguments[0]))
            return nil
        }
        do {
            try call(property("then", of: promise), on: promise, fulfil, reject)
        } catch { settled.fail(error) }
        return settled.future
    }
}
