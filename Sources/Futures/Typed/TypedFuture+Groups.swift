extension TypedFuture {
    /// Completes with the values of all `futures`, in the order of `futures`. If there are no futures,
    /// completes with an empty array.
    ///
    /// If one of the futures fails or is cancelled, the returned future fails or is cancelled at once. The
    /// futures that are still pending are then asked to cancel, as `cancelRemaining` says. Even with
    /// `.always`, a future for which other code waits is not cancelled.
    ///
    /// If `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current`` if `loop` is
    /// `nil`. Traps if `futures` is empty and both `loop` and ``EventLoop/current`` are `nil`. Also traps if
    /// `futures` belong to different loops, or to a loop other than `loop`.
    public static func all(
        _ futures: some Sequence<TypedFuture>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil
    ) -> TypedFuture<[Value], Failure> {
        let futures = Array(futures)
        let loop = futures.map(\.outcome).withCells { cells in LoopCore.ofGroup(cells, loop) }
        guard !futures.isEmpty else { return .succeeded([], on: loop) }
        let group = TypedGroup<[Value], Failure>(on: loop, cancelRemaining: cancelRemaining)
        let values = ArrivedValues<Value>(futures.count)
        for (index, future) in futures.enumerated() {
            group.wait(for: future) { values.add($0, at: index) ? values.all : nil }
        }
        return group.future
    }

    /// Completes with the outcome of the future that completes first, whatever that outcome is.
    ///
    /// If `futures` is empty, the returned future ends as ``FutureFailure/broken(_:)`` with
    /// ``FutureError/invalidArgument(_:)``. Everything else is the same as in `Future.race`.
    public static func race(
        _ futures: some Sequence<TypedFuture>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil
    ) -> TypedFuture {
        TypedFuture(Future.race(futures.map(\.outcome), cancelRemaining: cancelRemaining, on: loop))
    }

    /// Completes with the value of this future and the value of `other`. If one of the two fails or is
    /// cancelled, the returned future fails or is cancelled at once. The other one of the two is then asked
    /// to cancel, unless other code waits for it.
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

/// A group of typed futures. It completes with the first failure, or when all values have arrived.
private struct TypedGroup<Output, Failure: Error> {
    private let gathering: Gathering<Result<Output, Failure>>

    init(on loop: EventLoop, cancelRemaining: CancelRemaining) {
        let target = Cell.plain(loop.core, state: .pending, of: Result<Output, Failure>.self)
        gathering = Gathering(target, cancelRemaining)
    }

    var future: TypedFuture<Output, Failure> { TypedFuture(Future(gathering.target)) }

    /// Waits for `future`. `receive` gets the value. It returns the output of the group if all values have
    /// arrived, and `nil` otherwise.
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
