/// The outcome of the future that completed first, and the other futures. The `Future.select` that takes a
/// sequence of futures completes with such a value.
public struct FutureSelection<Value> {
    /// The index of the future that completed first.
    public let index: Int
    /// The outcome of the future that completed first. After a cancellation, the outcome is a
    /// `CancellationError`.
    public let result: Result<Value, any Error>
    /// The other futures, in their original order.
    public let rest: [Future<Value>]
}

extension Future {
    /// Completes with the outcome of `first` or of `second`, whichever of these two futures completes
    /// earlier. The two futures may have different types.
    ///
    /// The other future is then asked to cancel, as `cancelRemaining` says. Even with `.always`, a future for
    /// which other code waits is not cancelled. If both futures have completed already, `first` wins. Traps
    /// if the two futures belong to different loops.
    ///
    /// ```swift
    /// let chunk = Future.select(connection.read(), or: loop.sleep(for: .seconds(5))).map(\.left)
    /// ```
    public static func select<A, B>(
        _ first: Future<A>, or second: Future<B>, cancelRemaining: CancelRemaining = .always,
        token: CancellationToken = .none
    ) -> Future where Value == FutureEither<A, B> {
        let target = Cell.plain(first.loop.core, state: .pending, of: Value.self)
        let cells = [first.cell, second.cell]
        guard let either = Gathering<Value>(target, of: cells.span, cancelRemaining, token) else {
            return Future(target)
        }
        func wait<Part>(for future: Future<Part>, _ side: @escaping (Part) -> Value) {
            let step = CompleteObserver<Part> { result in either.complete(result.map(side)) }
            either.group.wait(for: future.cell, step: step)
        }
        wait(for: first, Value.left)
        wait(for: second, Value.right)
        return Future(target)
    }

    /// Completes as soon as one of `futures`, at any index, has completed. The value has the outcome and the
    /// index of that future, and the other futures. The other futures continue.
    ///
    /// If `futures` is empty, the returned future fails with ``FutureError/invalidArgument(_:)``, and belongs
    /// to `loop`, or to ``EventLoop/current`` if `loop` is `nil`. In this case, the call traps if `loop` and
    /// ``EventLoop/current`` are both `nil`. Also traps if `futures` belong to different loops, or to a loop
    /// other than `loop`.
    ///
    /// ```swift
    /// let line = Future.select(from: members.map { $0.readLine() }, on: loop)
    /// line.whenSuccess { print("member \($0.index) spoke, \($0.rest.count) are silent") }
    /// ```
    public static func select(
        from futures: some Sequence<Future>, on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future<FutureSelection<Value>> {
        let futures = Array(futures)
        return gather(
            futures, cancelRemaining: .never, on: loop, token: token, ifEmpty: refusal(of: "select")
        ) { first, _ in
            { result, index in
                var rest = futures
                rest.remove(at: index)
                first.succeed(FutureSelection(index: index, result: result, rest: rest))
            }
        }
    }
}
