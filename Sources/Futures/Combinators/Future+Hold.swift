extension Future {
    /// Waits until this future and `other` have both completed. Then passes on the value or the error of this
    /// future.
    ///
    /// If `other` fails, the returned future fails with the error of `other`. If `other` is cancelled, the
    /// returned future is cancelled. If this future is cancelled, the returned future is cancelled at once,
    /// without waiting for `other`.
    ///
    /// ```swift
    /// let page = fetch("index").delay(until: connection.write("one moment\n"))
    /// ```
    public func delay<Ignored>(until other: Future<Ignored>) -> Future<Value> {
        other.given(to: cell.loop).ignoreFailure()
        return held { _ in other }
    }

    /// Delays the value or the error of this future until the future that `wait` returns for the outcome has completed.
    /// If `wait` returns `nil`, passes the outcome on at once.
    func held<Ignored>(
        on context: LocalContext = .loop, token: CancellationToken = .none,
        _ wait: @escaping (Result<Value, any Error>) throws -> Future<Ignored>?
    ) -> Future<Value> {
        let step = CompletingStep<Value, Value> { result in
            guard let wait = try wait(result) else { return result.completion }
            return .using(wait.map { _ in try result.get() })
        }
        return cell.derive(step, when: [.success, .failure], on: context, token: token)
    }
}
