extension Future {
    /// Completes when this future does, but without the value.
    public func asVoid() -> Future<Void> { map { _ in } }

    /// Casts the value to `type`. Fails with ``FutureError/castFailed(from:to:)`` if the value is not of that type.
    public func cast<NewValue>(to type: NewValue.Type) -> Future<NewValue> {
        map { value in
            guard let cast = value as? NewValue else {
                throw FutureError.castFailed(from: "\(Swift.type(of: value as Any))", to: "\(NewValue.self)")
            }
            return cast
        }
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

    /// Completes with the error as its value. Fails with ``FutureError/notFailed`` if there is a value. Passes
    /// cancellation on.
    ///
    /// ```swift
    /// let complaint = save(1).errorAsValue().map { "not saved: \($0)" }
    /// ```
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
    ///
    /// ```swift
    /// let page = fetch("index").fallback(to: fetch("mirror/index"))    // Fetches both at once.
    /// ```
    public func fallback(to other: Future<Value>, token: CancellationToken = .none) -> Future<Value> {
        other.ignoreFailure()
        return flatMapError(token: token) { error in
            other.spared(by: token).recover(including: .cancellation) { _ in throw error }
        }
    }

}

extension Future {
    /// Unwraps the optional value. Fails with `error`, or else ``FutureError/missingValue``, if the value is `nil`.
    ///
    /// ```swift
    /// let number = optional.unwrap(orFail: FutureError.message("there is no such row"))
    /// ```
    public func unwrap<Wrapped>(
        orFail error: any Error = FutureError.missingValue
    ) -> Future<Wrapped> where Value == Wrapped? {
        map { value in
            guard let value else { throw error }
            return value
        }
    }
}
