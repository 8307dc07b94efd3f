extension TypedFuture {
    /// Completes with the values of all `futures`, in their order. If there are none, completes with an empty array.
    ///
    /// Fails, or is cancelled, as soon as one of them is. The others are then asked to cancel if nobody else waits
    /// for them, as `cancelRemaining` says. An empty group belongs to `loop`, or else to the loop that runs the
    /// current callback. It traps if there is neither. Traps if the futures are not all of one loop.
    public static func all(
        _ futures: some Sequence<TypedFuture>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil
    ) -> TypedFuture<[Value], Failure> {
        let futures = Array(futures)
        let loop = LoopCore.ofGroup(futures.map(\.outcome.cell), loop)
        guard !futures.isEmpty else { return .succeeded([], on: loop) }
        let group = TypedGroup<[Value], Failure>(on: loop, cancelRemaining: cancelRemaining)
        var values = ArrivedValues<Value>(futures.count)
        for (index, future) in futures.enumerated() {
            group.wait(for: future) { values.add($0, at: index) }
        }
        return group.future
    }

    /// Completes as the first of `futures` to complete does, with any outcome.
    ///
    /// Otherwise like `Future.race`. A race without futures is broken, with ``FutureError/invalidArgument(_:)``.
    public static func race(
        _ futures: some Sequence<TypedFuture>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil
    ) -> TypedFuture {
        TypedFuture(Future.race(futures.map(\.outcome), cancelRemaining: cancelRemaining, on: loop))
    }

    /// Completes with the values of this future and `other`. Fails, or is cancelled, as soon as one of the two is.
    /// The other one is then asked to cancel if nobody else waits for it.
    public func and<Other>(_ other: TypedFuture<Other, Failure>) -> TypedFuture<(Value, Other), Failure> {
        let group = TypedGroup<(Value, Other), Failure>(on: loop, cancelRemaining: .always)
        var (first, second): (Value?, Other?)
        group.wait(for: self) { value in
            first = .some(value)
            return second.map { (value, $0) }
        }
        group.wait(for: other) { value in
            second = .some(value)
            return first.map { ($0, value) }
        }
        return group.future
    }
}

/// A wait for several typed futures: for the first failure, or for all values.
private struct TypedGroup<Output, Failure: Error> {
    private let gathering: Gathering<Result<Output, Failure>>

    init(on loop: EventLoop, cancelRemaining: CancelRemaining) {
        let target = Cell.plain(loop.core, state: .pending, of: Result<Output, Failure>.self)
        gathering = Gathering(target, cancelRemaining)
    }

    var future: TypedFuture<Output, Failure> { TypedFuture(Future(gathering.target)) }

    /// Waits for `future`. `receive` takes the value, and returns what the group completes with once all are there.
    func wait<Value>(for future: TypedFuture<Value, Failure>, receive: @escaping (Value) -> Output?) {
        let step = CompleteObserver<Result<Value, Failure>> { [gathering] outcome in
            switch outcome {
            case .success(.success(let value)):
                if let output = receive(value) { gathering.succeed(.success(output)) }
            case .success(.failure(let failure)):
                gathering.succeed(.failure(failure))
            case .failure(let error):
                gathering.fail(error)
            }
        }
        gathering.group.wait(for: future.outcome.cell, step: step)
    }
}
