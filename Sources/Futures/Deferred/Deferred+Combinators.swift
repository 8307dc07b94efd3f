extension Deferred {
    /// Returns work that first starts this work, and then calls `body` with the future of this work. The
    /// returned work has the outcome of the future that `body` returns. `body` may use any methods of
    /// ``Future``.
    ///
    /// ```swift
    /// let patient = work.transform { $0.timeout(after: .seconds(5)).tapError { print($0) } }
    /// ```
    public func transform<NewValue>(
        _ body: @escaping (Future<Value>) throws -> Future<NewValue>
    ) -> Deferred<NewValue> { Deferred<NewValue> { loop in try body(start(on: loop)) } }

    /// Returns work that transforms the value of this work with `transform`, as `Future.map` does.
    public func map<NewValue>(_ transform: @escaping (Value) throws -> NewValue) -> Deferred<NewValue> {
        self.transform { $0.map(transform) }
    }

    /// Returns work that calls `transform` with the value of this work. The returned work has the outcome of
    /// the future that `transform` returns, as with `Future.flatMap`.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Future<NewValue>
    ) -> Deferred<NewValue> { self.transform { $0.flatMap(transform) } }

    /// Returns work that first runs this work, then calls `transform` with the value, and then starts the
    /// work that `transform` returns. The returned work has the outcome of that second work. Both run on the
    /// same loop.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Deferred<NewValue>
    ) -> Deferred<NewValue> {
        Deferred<NewValue> { loop in start(on: loop).flatMap { try transform($0).start(on: loop) } }
    }

    /// Returns work that replaces an error of this work with the value that `body` returns for the error.
    /// `policy` says whether `body` is also called for a cancellation, as with `Future.recover`.
    public func recover(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> Value
    ) -> Deferred { transform { $0.recover(including: policy, body) } }

    /// Returns work that starts this work and `other` at the same time. The outcome is a tuple of both
    /// values, as with `Future.and`.
    public func and<Other>(_ other: Deferred<Other>) -> Deferred<(Value, Other)> { combine(self, other) }
}

/// Returns work that starts all `deferreds` at the same time. The outcome is a tuple of their values, as with
/// the `combine` for futures.
public func combine<each Value>(_ deferreds: repeat Deferred<each Value>) -> Deferred<(repeat each Value)> {
    Deferred { loop in combine(repeat (each deferreds).start(on: loop), on: loop) }
}
