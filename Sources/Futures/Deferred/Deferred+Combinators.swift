extension Deferred {
    /// Returns work that starts this work and completes with the outcome of the future that `body` returns.
    /// `body` gets the future of this work, and may use any methods of ``Future``.
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

    /// Returns work that continues with the future that `transform` returns for the value, as
    /// `Future.flatMap` does.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Future<NewValue>
    ) -> Deferred<NewValue> { self.transform { $0.flatMap(transform) } }

    /// Returns work that continues with the work that `transform` returns for the value. That work starts on
    /// the same loop.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Deferred<NewValue>
    ) -> Deferred<NewValue> {
        Deferred<NewValue> { loop in start(on: loop).flatMap { try transform($0).start(on: loop) } }
    }

    /// Returns work that replaces an error with the value that `body` returns, as `Future.recover` does.
    public func recover(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> Value
    ) -> Deferred { transform { $0.recover(including: policy, body) } }

    /// Returns work that starts this work and `other` at the same time, and completes with both values, as
    /// `Future.and` does.
    public func and<Other>(_ other: Deferred<Other>) -> Deferred<(Value, Other)> { combine(self, other) }
}

/// Returns work that starts all `deferreds` at the same time, and completes with a tuple of their values, as
/// `combine` does for futures.
public func combine<each Value>(_ deferreds: repeat Deferred<each Value>) -> Deferred<(repeat each Value)> {
    Deferred { loop in combine(repeat (each deferreds).start(on: loop), on: loop) }
}
