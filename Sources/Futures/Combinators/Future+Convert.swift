extension Future {
    /// Completes when this future does, but without the value.
    public func asVoid() -> Future<Void> { map { _ in } }

    /// Completes with the value as `Any`, for collections of futures of different types.
    public func asAny() -> Future<Any> { map { $0 } }

    /// Casts the value to `type`. Fails with ``FutureError/castFailed(from:to:)`` if the value is not of that type.
    public func cast<NewValue>(to type: NewValue.Type) -> Future<NewValue> {
        map { value in
            guard let cast = value as? NewValue else {
                throw FutureError.castFailed(from: "\(Swift.type(of: value as Any))", to: "\(NewValue.self)")
            }
            return cast
        }
    }

    /// Casts the value to `type`, or completes with `nil` if the value is not of that type.
    public func optionalCast<NewValue>(to type: NewValue.Type) -> Future<NewValue?> {
        map { $0 as? NewValue }
    }

    /// Transforms the value with `transform`. Fails with ``FutureError/filtered`` if that returns `nil`.
    public func compactMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> NewValue?
    ) -> Future<NewValue> {
        map(on: context, token: token) { value in
            guard let transformed = try transform(value) else { throw FutureError.filtered }
            return transformed
        }
    }

    /// Transforms the value with `success`, or the error with `failure`. Passes cancellation on.
    public func transform<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        success: @escaping (Value) throws -> NewValue, failure: @escaping (any Error) throws -> any Error
    ) -> Future<NewValue> {
        let step = MapResultStep<Value, NewValue> { result in
            switch result {
            case .success(let value): return try success(value)
            case .failure(let error): throw try failure(error)
            }
        }
        return cell.derive(step, when: [.success, .failure], on: context, token: token)
    }

    /// Completes with the error as its value. Fails with ``FutureError/notFailed`` if there is a value. Passes
    /// cancellation on.
    public func errorAsValue() -> Future<any Error> {
        let step = MapResultStep<Value, any Error> { result in
            guard let error = result.thrownError else { throw FutureError.notFailed }
            return error
        }
        return cell.derive(step, when: [.success, .failure])
    }

    /// Falls back to `other` if this future fails. If `other` has no value either, fails with this future's error.
    ///
    /// Passes a cancellation of this future on, and `other` continues then. A cancelled `token` leaves both futures
    /// alone.
    public func fallback(to other: Future<Value>, token: CancellationToken = .none) -> Future<Value> {
        other.ignoreFailure()
        return flatMapError(token: token) { error in
            other.spared(by: token).recover(including: .cancellation) { _ in throw error }
        }
    }

    /// Combines this value and the value of `other` with `combine`.
    ///
    /// Fails or is cancelled as soon as one of the two futures is. The other future is then asked to cancel if nobody
    /// else waits for it. A cancelled `token` leaves both futures alone.
    public func zip<Other, NewValue>(
        with other: Future<Other>, on context: LocalContext = .default, token: CancellationToken = .none,
        _ combine: @escaping (Value, Other) throws -> NewValue
    ) -> Future<NewValue> {
        guard !token.isCancelled else {
            other.ignoreFailure()
            return map(token: token) { _ in throw CancellationError() }
        }
        let both = and(other)
        if let condition = token.condition { (both.cell.pointer.producer as? Group)?.end(by: condition) }
        return both.map(on: context, token: token) { try combine($0.0, $0.1) }
    }
}

extension Future {
    /// Unwraps the optional value. Fails with `error`, or else ``FutureError/missingValue``, if the value is `nil`.
    public func unwrap<Wrapped>(
        orFail error: any Error = FutureError.missingValue
    ) -> Future<Wrapped> where Value == Wrapped? {
        map { value in
            guard let value else { throw error }
            return value
        }
    }

    /// Unwraps the optional value, or completes with `replacement` if it is `nil`.
    public func unwrap<Wrapped>(or replacement: Wrapped) -> Future<Wrapped> where Value == Wrapped? {
        map { $0 ?? replacement }
    }

    /// Unwraps the optional value, or completes with what `makeReplacement` returns if it is `nil`.
    public func unwrap<Wrapped>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        orElse makeReplacement: @escaping () throws -> Wrapped
    ) -> Future<Wrapped> where Value == Wrapped? {
        map(on: context, token: token) { try $0 ?? makeReplacement() }
    }
}
