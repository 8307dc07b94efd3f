extension Future {
    /// Calls `transform` with the value, and passes on the outcome of the future that `transform` returns.
    ///
    /// If `transform` throws, the returned future fails with that error. An error or a cancellation of this
    /// future is passed on without a call. Traps if the future from `transform` belongs to a different loop.
    ///
    /// `transform` may call the function that contains this `flatMap`, as in the example. Such a repetition
    /// runs in constant memory, no matter how often the function calls itself.
    ///
    /// ```swift
    /// func echo() -> Future<Void> {
    ///     connection.read().flatMap { $0.isEmpty ? done : connection.write($0).flatMap { echo() } }
    /// }
    /// ```
    @inlinable
    public func flatMap<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ transform: @escaping (Value) throws -> Future<NewValue>
    ) -> Future<NewValue> {
        cell.derive(FlatMapStep(transform: transform), when: .success, on: context, token: token)
    }

    /// Calls `body` with the outcome of this future, and passes on the outcome of the future that `body`
    /// returns.
    ///
    /// `body` is called after any outcome, and gets cancellation as a `CancellationError`. If `body` throws,
    /// the returned future fails with that error.
    ///
    /// ```swift
    /// let answered = fetch("index").flatMapResult { connection.write($0.value ?? Data("not found\n".utf8)) }
    /// ```
    @inlinable
    public func flatMapResult<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>) throws -> Future<NewValue>
    ) -> Future<NewValue> {
        cell.derive(FlatMapResultStep(body: body), when: .all, on: context, token: token)
    }
}

@usableFromInline
struct FlatMapStep<Input, Output>: Step {
    @usableFromInline let transform: (Input) throws -> Future<Output>

    @inlinable init(transform: @escaping (Input) throws -> Future<Output>) { self.transform = transform }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToFollow { try transform(source.takeValue(as: Input.self)) }
    }

    @inlinable static var verb: String? { "flatMap" }
}

@usableFromInline
struct FlatMapResultStep<Input, Output>: Step {
    @usableFromInline let body: (Result<Input, any Error>) throws -> Future<Output>

    @inlinable init(body: @escaping (Result<Input, any Error>) throws -> Future<Output>) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToFollow { try body(source.readResult(as: Input.self)) }
    }
}
