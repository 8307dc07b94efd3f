extension Future where Value: Sendable {
    /// Transforms the value with `transform`, which runs on `context`. If `transform` throws, the returned
    /// future fails with that error.
    ///
    /// `transform` may block or compute for a long time: the loop does other work in the meantime. If this
    /// future fails or is cancelled, the returned future fails or is cancelled too, and `transform` does not
    /// run.
    ///
    /// ```swift
    /// let digest = fetch("page").map(on: .pool) { hash($0) }
    /// ```
    public func map<NewValue: Sendable>(
        on context: RemoteContext, file: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Future<NewValue> {
        flatMap { [unowned loop] value in
            context.execute(on: loop, file: file, line: line) { try transform(value) }
        }
    }

    /// Calls `transform` with the value on `context`, and completes with the outcome of the future that
    /// `transform` returns. If `transform` throws, the returned future fails with that error.
    ///
    /// The future that `transform` returns must belong to the loop of the thread on which `transform` runs.
    /// Otherwise, the program traps. If `context` was made by ``RemoteContext/loop(_:name:)``, the future
    /// must belong to the loop that was given to that function. In this way, one loop waits for another.
    ///
    /// ```swift
    /// let elsewhere = worker.loop
    /// let found = text.flatMap(on: .loop(elsewhere)) { host in elsewhere.addresses(of: host, port: 443) }
    /// ```
    public func flatMap<NewValue: Sendable>(
        on context: RemoteContext, file: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> Future<NewValue>
    ) -> Future<NewValue> {
        flatMap { [unowned loop = cell.loop] value in
            context.start(on: loop, file, line) { promise in
                do { promise.complete(using: try transform(value)) } catch { promise.fail(error) }
            }
        }
    }

    /// Transforms the outcome of this future, value or error, with `body`, which runs on `context`. If this
    /// future is cancelled, `body` gets a `CancellationError`. If `body` throws, the returned future fails
    /// with that error.
    public func mapResult<NewValue: Sendable>(
        on context: RemoteContext, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Result<Value, any Error>) throws -> NewValue
    ) -> Future<NewValue> {
        flatMapResult { [unowned loop] result in
            context.execute(on: loop, file: file, line: line) { try body(result) }
        }
    }

    /// Replaces an error with the value that `body` returns for the error. `body` runs on `context`. `policy`
    /// says whether `body` is also called for a cancellation. If this future has a value, the returned future
    /// has the same value. If `body` throws, the returned future fails with that error.
    public func recover(
        including policy: ErrorScope = .failure, on context: RemoteContext, file: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (any Error) throws -> Value
    ) -> Future<Value> {
        flatMapError(including: policy) { [unowned loop] error in
            context.execute(on: loop, file: file, line: line) { try body(error) }
        }
    }

    /// Replaces an error with the outcome of the future that `body` returns for the error. `body` runs on
    /// `context`. `policy` says whether `body` is also called for a cancellation. If this future has a value,
    /// the returned future has the same value.
    ///
    /// The future that `body` returns must belong to the loop of the thread on which `body` runs. Otherwise,
    /// the program traps.
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: RemoteContext, file: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (any Error) throws -> Future<Value>
    ) -> Future<Value> {
        flatMapError(including: policy) { [unowned loop] error in
            loop.succeeded(error as any Error).flatMap(on: context, file: file, line: line, body)
        }
    }

    /// Replaces the error of this future with a new error: the one that `body` returns or throws. `body` runs
    /// on `context`. `policy` says whether `body` is also called for a cancellation. If this future has a
    /// value, the returned future has the same value.
    public func mapError(
        including policy: ErrorScope = .failure, on context: RemoteContext,
        _ body: @escaping @Sendable (any Error) throws -> any Error
    ) -> Future<Value> {
        recover(including: policy, on: context) { error in throw try body(error) }
    }

    /// Calls `body` with the value on `context`, then passes the same value on. If `body` throws, the
    /// returned future fails with that error. An error or a cancellation of this future is passed on without
    /// a call.
    public func tap(
        on context: RemoteContext, _ body: @escaping @Sendable (Value) throws -> Void
    ) -> Future<Value> {
        map(on: context) { value in
            try body(value)
            return value
        }
    }

    /// Calls `body` with the error on `context`, then passes the same error on. A value is passed on without
    /// a call. `policy` says whether `body` is also called for a cancellation.
    ///
    /// If `body` throws after an error, the returned future fails with a ``CleanUpError``, which holds both
    /// errors. If `body` throws after a cancellation, the returned future fails with the error that `body`
    /// throws.
    public func tapError(
        including policy: ErrorScope = .failure, on context: RemoteContext,
        _ body: @escaping @Sendable (any Error) throws -> Void
    ) -> Future<Value> {
        mapError(including: policy, on: context) { error in
            do { try body(error) } catch let second {
                throw Result<Value, any Error>.failure(error).thrown(byCleanUp: second)
            }
            return error
        }
    }

    /// Calls `body` with the outcome on `context`, then passes the same outcome on. If this future is
    /// cancelled, `body` gets a `CancellationError`.
    ///
    /// If `body` throws after a value or a cancellation, the returned future fails with that error. If `body`
    /// throws after an error, the returned future fails with a ``CleanUpError``, which holds both errors.
    public func tapResult(
        on context: RemoteContext, _ body: @escaping @Sendable (Result<Value, any Error>) throws -> Void
    ) -> Future<Value> {
        mapResult(on: context) { result in
            do { try body(result) } catch { throw result.thrown(byCleanUp: error) }
            return try result.get()
        }
    }

    /// Calls `body` on `context` after any outcome, then passes the same outcome on. `body` runs exactly
    /// once. It also runs if you cancel the returned future before this future completes.
    public func always(on context: RemoteContext, _ body: @escaping @Sendable () -> Void) -> Future<Value> {
        flatAlways { [unowned loop] in context.execute(on: loop, body) }
    }

    /// Passes the value on if `predicate` returns `true` for the value. Otherwise, the returned future fails
    /// with ``FutureError/filtered``. `predicate` runs on `context`. If `predicate` throws, the returned
    /// future fails with that error.
    public func filter(
        on context: RemoteContext, _ predicate: @escaping @Sendable (Value) throws -> Bool
    ) -> Future<Value> {
        map(on: context) { value in
            guard try predicate(value) else { throw FutureError.filtered }
            return value
        }
    }

    /// Calls `body` on `context` with the outcome when this future completes. If this future is cancelled,
    /// the outcome is `.failure(CancellationError())`.
    ///
    /// If `context` runs several closures at a time, the closures of one future may run at the same time or
    /// in any order.
    public func whenComplete(
        on context: RemoteContext, _ body: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        whenComplete { [unowned loop] result in context.execute(on: loop) { body(result) }.ignoreFailure() }
    }

    /// Calls `body` on `context` with the value, if this future succeeds.
    public func whenSuccess(on context: RemoteContext, _ body: @escaping @Sendable (Value) -> Void) {
        whenSuccess { [unowned loop] value in context.execute(on: loop) { body(value) }.ignoreFailure() }
    }

    /// Calls `body` on `context` with the error, if this future fails. Cancellation does not count as a failure.
    public func whenFailure(on context: RemoteContext, _ body: @escaping @Sendable (any Error) -> Void) {
        whenFailure { [unowned loop] error in context.execute(on: loop) { body(error) }.ignoreFailure() }
    }

    /// Calls `body` on `context` if this future is cancelled.
    public func whenCancelled(on context: RemoteContext, _ body: @escaping @Sendable () -> Void) {
        whenCancelled { [unowned loop] in context.execute(on: loop, body).ignoreFailure() }
    }
}
