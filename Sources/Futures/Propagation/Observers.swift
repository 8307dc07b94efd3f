@usableFromInline
struct CompleteObserver<Value>: Step {
    @usableFromInline let body: (Result<Value, any Error>) -> Void

    @inlinable init(body: @escaping (Result<Value, any Error>) -> Void) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { body(source.readResult(as: Value.self)) }
}

@usableFromInline
struct SuccessObserver<Value>: Step {
    @usableFromInline let body: (Value) -> Void

    @inlinable init(body: @escaping (Value) -> Void) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { body(source.takeValue(as: Value.self)) }
}

@usableFromInline
struct FailureObserver: Step {
    @usableFromInline let body: (any Error) -> Void

    @inlinable init(body: @escaping (any Error) -> Void) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { body(source.readError()) }
}
