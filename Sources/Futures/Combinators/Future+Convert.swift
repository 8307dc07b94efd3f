extension Future {
    /// Replaces the value with `Void`. A failure or a cancellation of this future is passed on.
    public func asVoid() -> Future<Void> { map { _ in } }

    /// Casts the value to the type `NewValue`. If the value is not of that type, the returned future fails
    /// with ``FutureError/castFailed(from:to:)``.
    public func cast<NewValue>(to type: NewValue.Type) -> Future<NewValue> {
        map { value in
            try (value as? NewValue).unwrapped(
                or: FutureError.castFailed(from: "\(Swift.type(of: value as Any))", to: "\(NewValue.self)"))
        }
    }

    /// Transforms the value with `transform`. If `transform` returns `nil`, the returned future fails with
    /// ``FutureError/filtered``. If `transform` throws, the returned future fails with the error that
    /// `transform` throws.
    public func compactMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> NewValue?
    ) -> Future<NewValue> {
        map(on: context, token: token) { try transform($0).unwrapped(or: FutureError.filtered) }
    }

    /// Turns the error of this future into the value of the returned future. If this future has a value, the
    /// returned future fails with ``FutureError/notFailed``. If this future is cancelled, the returned future
    /// is cancelled too.
    ///
    /// ```swift
    /// let complaint = save(1).errorAsValue().map { "not saved: \($0)" }
    /// ```
    public func errorAsValue() -> Future<any Error> {
        let step = MapResultStep<Value, any Error> { try $0.thrownError.unwrapped(or: FutureError.notFailed) }
        return cell.derive(step, when: [.success, .failure])
    }

    /// Replaces a failure of this future with the value of `other`. If this future has a value, the returned
    /// future has the same value. If this future fails, and `other` fails or is cancelled, the returned
    /// future fails with the error of this future.
    ///
    /// If this future is cancelled, the returned future is cancelled at once, and `other` continues. If
    /// `token` is cancelled, only the returned future is cancelled: this future and `other` both continue.
    ///
    /// ```swift
    /// let page = fetch("index").fallback(to: fetch("mirror/index"))    // Fetches both at once.
    /// ```
    public func fallback(to other: Future<Value>, token: CancellationToken = .none) -> Future<Value> {
        other.given(to: cell.loop).ignoreFailure()
        return flatMapError(token: token) { error in
            other.spared(by: token).recover(including: .cancellation) { _ in throw error }
        }
    }
}

extension Future {
    /// Unwraps the optional value. If the value is `nil`, the returned future fails with `error`, which is
    /// ``FutureError/missingValue`` by default.
    ///
    /// ```swift
    /// let number = optional.unwrap(orFail: FutureError.message("there is no such row"))
    /// ```
    public func unwrap<Wrapped>(
        orFail error: any Error = FutureError.missingValue
    ) -> Future<Wrapped> where Value == Wrapped? {
        map { try $0.unwrapped(or: error) }
    }
}

extension Optional {
    /// Returns the content, or throws `error` if there is none.
    fileprivate func unwrapped(or error: @autoclosure () -> any Error) throws -> Wrapped {
        guard let self else { throw error() }
        return self
    }
}
