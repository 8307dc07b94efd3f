extension Future {
    /// Transforms the value with `transform`. If `transform` throws, the returned future fails with that
    /// error. An error or a cancellation of this future is passed on without a call.
    @inlinable
    public func map<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> NewValue
    ) -> Future<NewValue> {
        cell.derive(MapStep(transform: transform), when: .success, on: context, token: token)
    }

    /// Passes the value on if `predicate` returns `true` for the value. If `predicate` returns `false`, the
    /// returned future fails with ``FutureError/filtered``. If `predicate` throws, the returned future fails
    /// with the error that `predicate` throws. An error or a cancellation of this future is passed on without
    /// a call.
    @inlinable
    public func filter(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ predicate: @escaping (Value) throws -> Bool
    ) -> Future<Value> {
        map(on: context, token: token) { value in
            guard try predicate(value) else { throw FutureError.filtered }
            return value
        }
    }

    /// Transforms the outcome of this future, value or error, with `body`. `body` gets cancellation as a
    /// `CancellationError`. If `body` throws, the returned future fails with that error.
    @inlinable
    public func mapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> NewValue
    ) -> Future<NewValue> {
        cell.derive(MapResultStep(body: body), when: .all, on: context, token: token)
    }
}

@usableFromInline
struct MapStep<Input, Output>: Step {
    @usableFromInline let transform: (Input) throws -> Output

    @inlinable init(transform: @escaping (Input) throws -> Output) { self.transform = transform }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToSucceed { try transform(source.takeValue(as: Input.self)) }
    }

    @inlinable static var verb: String? { "map" }
}

@usableFromInline
struct MapResultStep<Input, Output>: Step {
    @usableFromInline let body: (Result<Input, any Error>) throws -> Output

    @inlinable init(body: @escaping (Result<Input, any Error>) throws -> Output) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToSucceed { try body(source.readResult(as: Input.self)) }
    }
}

extension CellPointer {
    /// Succeeds with the value that `body` returns, or fails with the error that `body` throws.
    @inlinable @inline(__always)
    func tryToSucceed<Value>(_ body: () throws -> Value) {
        do { succeed(try body()) } catch { fail(error) }
    }

    /// Completes with the outcome of the future that `body` returns, or fails with the error that `body` throws.
    @inlinable @inline(__always)
    func tryToFollow<Value>(_ body: () throws -> Future<Value>) {
        do { complete(usingOnly: try body().cell) } catch { fail(error) }
    }
}
