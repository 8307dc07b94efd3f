extension Deferred {
    /// Starts this work, and transforms its future with `body`: with any verb of ``Future``, or several.
    public func transform<NewValue>(
        _ body: @escaping (Future<Value>) throws -> Future<NewValue>
    ) -> Deferred<NewValue> {
        Deferred<NewValue> { loop in try body(start(on: loop)) }
    }

    /// Transforms the value with `transform`, as `Future.map` does.
    public func map<NewValue>(_ transform: @escaping (Value) throws -> NewValue) -> Deferred<NewValue> {
        self.transform { $0.map(transform) }
    }

    /// Transforms the outcome, value or error, with `body`, as `Future.mapResult` does.
    public func mapResult<NewValue>(
        _ body: @escaping (Result<Value, any Error>) throws -> NewValue
    ) -> Deferred<NewValue> {
        transform { $0.mapResult(body) }
    }

    /// Continues with the future that `transform` returns for the value, as `Future.flatMap` does.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Future<NewValue>
    ) -> Deferred<NewValue> {
        self.transform { $0.flatMap(transform) }
    }

    /// Continues with the work that `transform` returns for the value, and starts it on the same loop.
    public func flatMap<NewValue>(
        _ transform: @escaping (Value) throws -> Deferred<NewValue>
    ) -> Deferred<NewValue> {
        Deferred<NewValue> { loop in start(on: loop).flatMap { try transform($0).start(on: loop) } }
    }

    /// Replaces an error with the value that `body` returns, as `Future.recover` does.
    public func recover(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> Value
    ) -> Deferred {
        transform { $0.recover(including: policy, body) }
    }

    /// Continues with the future that `body` returns for an error, as `Future.flatMapError` does.
    public func flatMapError(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> Future<Value>
    ) -> Deferred {
        transform { $0.flatMapError(including: policy, body) }
    }

    /// Replaces an error with the error that `body` returns, as `Future.mapError` does.
    public func mapError(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> any Error
    ) -> Deferred {
        transform { $0.mapError(including: policy, body) }
    }

    /// Shows the value to `body`, as `Future.tap` does.
    public func tap(_ body: @escaping (Value) throws -> Void) -> Deferred { transform { $0.tap(body) } }

    /// Shows an error to `body`, as `Future.tapError` does.
    public func tapError(
        including policy: ErrorScope = .failure, _ body: @escaping (any Error) throws -> Void
    ) -> Deferred {
        transform { $0.tapError(including: policy, body) }
    }

    /// Calls `body` at the end of each run, as `Future.always` does.
    public func always(_ body: @escaping () -> Void) -> Deferred { transform { $0.always(body) } }

    /// Holds the outcome back, as `Future.delay` does.
    public func delay(by duration: Duration) -> Deferred { transform { $0.delay(by: duration) } }

    /// Limits the time of each run, as `Future.timeout` does.
    public func timeout(after limit: Duration) -> Deferred { transform { $0.timeout(after: limit) } }

    /// Starts this and `other` together, and completes with both values, as `Future.and` does.
    public func and<Other>(_ other: Deferred<Other>) -> Deferred<(Value, Other)> { combine(self, other) }
}

/// Starts all of `deferreds` together, and completes with a tuple of their values, as `combine` of futures does.
public func combine<each Value>(_ deferreds: repeat Deferred<each Value>) -> Deferred<(repeat each Value)> {
    Deferred { loop in combine(repeat (each deferreds).start(on: loop), on: loop) }
}
