/// A type whose values say how a future completes. `Result`, ``FutureCompletion`` and ``Future`` are such types. Your
/// own types can conform to this protocol, too.
///
/// The closures of `flatMap` and of similar methods may return any such value. `Promise.complete` takes any
/// such value.
public protocol Completing<Value> {
    associatedtype Value

    /// The way in which the future completes. The library reads this property once, when it completes the
    /// future.
    var completion: FutureCompletion<Value> { get }
}

/// A way to complete a future: with a value, with an error, as cancelled, or with the outcome of another
/// future.
public enum FutureCompletion<Value> {
    case success(Value)
    /// A failure with this error. If the error represents cancellation, the future is cancelled instead.
    case failure(any Error)
    case cancelled
    /// The outcome of the associated future, now or when that future completes. If the future that takes over
    /// this outcome is asked to cancel, the associated future is asked to cancel.
    case using(Future<Value>)

    /// Transforms the value with `transform`. If `transform` throws, the result is a failure with that error.
    /// A failure or a cancellation stays as it is.
    ///
    /// For a value, `transform` is called at once, within this call. For `.using` with a future, `transform`
    /// is called when that future has a value.
    public func map<NewValue>(_ transform: @escaping (Value) throws -> NewValue) -> FutureCompletion<NewValue>
    {
        switch self {
        case .success(let value): Result { try transform(value) }.completion
        case .failure(let error): .failure(error)
        case .cancelled: .cancelled
        case .using(let future): .using(future.map(transform))
        }
    }

    /// The outcome, or `nil` for `.using` with a future that is pending.
    public var result: Result<Value, any Error>? {
        switch self {
        case .success(let value): .success(value)
        case .failure(let error): .failure(error)
        case .cancelled: .failure(CancellationError())
        case .using(let future): future.result
        }
    }
}

extension FutureCompletion: Completing {
    public var completion: FutureCompletion { self }
}

extension Result: Completing {
    public var completion: FutureCompletion<Success> {
        switch self {
        case .success(let value): .success(value)
        case .failure(let error): .failure(error)
        }
    }
}

extension Future: Completing {
    public var completion: FutureCompletion<Value> { .using(self) }
}

extension Promise: Completing {
    /// The outcome of the promise's future.
    public var completion: FutureCompletion<Value> { .using(future) }
}

extension CellPointer {
    /// Completes this cell in the way that `completion` says.
    func complete<Value>(with completion: FutureCompletion<Value>) {
        switch completion {
        case .success(let value): succeed(value)
        case .failure(let error): fail(error)
        case .cancelled: fail(CancellationError())
        case .using(let future): complete(using: future.cell)
        }
    }
}
