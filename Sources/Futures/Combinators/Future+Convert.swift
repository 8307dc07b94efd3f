extension Future {
    /// A future that completes when this one does, without the value.
    public func asVoid() -> Future<Void> { map { _ in } }

    /// A future of the value as `Any`, for collections of different ones.
    public func asAny() -> Future<Any> { map { $0 } }

    /// A future of the value as `type`; fails with ``FutureError/castFailed(from:to:)`` if it is none.
    public func cast<NewValue>(to type: NewValue.Type) -> Future<NewValue> {
        map { value in
            guard let cast = value as? NewValue else {
                throw FutureError.castFailed(from: "\(Swift.type(of: value as Any))", to: "\(NewValue.self)")
            }
            return cast
        }
    }

    /// A future of the value as `type`, or of `nil` if it is none.
    public func optionalCast<NewValue>(to type: NewValue.Type) -> Future<NewValue?> {
        map { $0 as? NewValue }
    }

    /// A future of what `transform` makes of the value; fails with ``FutureError/filtered`` if that is `nil`.
    public func compactMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> NewValue?
    ) -> Future<NewValue> {
        map(on: context, token: token) { value in
            guard let transformed = try transform(value) else { throw FutureError.filtered }
            return transformed
        }
    }

    /// A future of what `success` makes of the value, or of the error that `failure` makes of the error.
    /// Cancellation passes.
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

    /// A future of the error; fails with ``FutureError/notFailed`` if there is a value. Cancellation passes.
    public func errorAsValue() -> Future<any Error> {
        let step = MapResultStep<Value, any Error> { result in
            guard let error = result.thrownError else { throw FutureError.notFailed }
            return error
        }
        return cell.derive(step, when: [.success, .failure])
    }

    /// A future of the value, or else of that of `other`; if that has none either, of the first error.
    ///
    /// Cancellation of this future passes, and `other` goes on then. Both are left alone when `token` is cancelled.
    public func fallback(to other: Future<Value>, token: CancellationToken = .none) -> Future<Value> {
        other.ignoreFailure()
        return flatMapError(token: token) { error in
            other.spared(by: token).recover(including: .cancellation) { _ in throw error }
        }
    }

    /// A future of what `combine` makes of this value and that of `other`. Fails, or is cancelled, as soon as one
    /// of the two is; the other one is then asked to cancel if nobody else waits for it. Both are left alone when
    /// `token` is cancelled.
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
    /// A future of the value in the optional; fails with `error`, or else ``FutureError/missingValue``, if that
    /// is `nil`.
    public func unwrap<Wrapped>(
        orFail error: any Error = FutureError.missingValue
    ) -> Future<Wrapped> where Value == Wrapped? {
        map { value in
            guard let value else { throw error }
            return value
        }
    }

    /// A future of the value in the optional, or of `replacement` if that is `nil`.
    public func unwrap<Wrapped>(or replacement: Wrapped) -> Future<Wrapped> where Value == Wrapped? {
        map { $0 ?? replacement }
    }

    /// A future of the value in the optional, or of what `makeReplacement` returns if that is `nil`.
    public func unwrap<Wrapped>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        orElse makeReplacement: @escaping () throws -> Wrapped
    ) -> Future<Wrapped> where Value == Wrapped? {
        map(on: context, token: token) { try $0 ?? makeReplacement() }
    }
}
