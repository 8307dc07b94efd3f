extension Future {
    /// Completes with the values of all `futures`, in the order of `futures`. If there are no futures,
    /// completes with an empty array.
    ///
    /// If one of the futures fails or is cancelled, the returned future fails or is cancelled at once. The
    /// futures that are still pending are then asked to cancel, as `cancelRemaining` says. Even with
    /// `.always`, a future for which other code waits is not cancelled.
    ///
    /// With `failFast: false`, the returned future first waits for all futures. If exactly one of them has
    /// failed, the returned future fails with the same error. If several have failed, the returned future
    /// fails with an ``AggregateError``. If no future has failed, but some were cancelled, the returned
    /// future is cancelled.
    ///
    /// If a future fails, `onFirstFailure` is called once, with the error of the future that failed first and
    /// the index of that future. Cancelling `token` cancels the returned future, and does not cancel
    /// `futures`. If `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current``
    /// if `loop` is `nil`. In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`.
    /// Also traps if `futures` belong to different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// let pages = Future.all(names.map { fetch($0) }, on: loop, onFirstFailure: { print(names[$1], $0) })
    /// ```
    @inlinable
    public static func all(
        _ futures: some Sequence<Future>, failFast: Bool = true, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil, token: CancellationToken = .none,
        onFirstFailure: ((any Error, _ index: Int) -> Void)? = nil
    ) -> Future<[Value]> {
        guard failFast else { return allAtTheEnd(futures, cancelRemaining, on: loop, token, onFirstFailure) }
        return gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: .success([])
        ) { all, count in
            AllValues(all, count: count, onFirstFailure)
        }
    }

    /// Completes as `all` does with `failFast: false`.
    @usableFromInline
    static func allAtTheEnd(
        _ futures: some Sequence<Future>, _ cancelRemaining: CancelRemaining, on loop: EventLoop?,
        _ token: CancellationToken, _ onFirstFailure: ((any Error, _ index: Int) -> Void)?
    ) -> Future<[Value]> {
        settle(futures, on: loop, token, cancelRemaining, onFirstFailure, conclude: join)
    }

    /// Completes with the outcomes of all `futures`, in the order of `futures`. If there are no futures,
    /// completes with an empty array.
    ///
    /// The returned future never fails. The outcome of a cancelled future is a `CancellationError`.
    /// Cancelling `token` cancels the returned future, and does not cancel `futures`. If `futures` is empty,
    /// the returned future belongs to `loop`, or to ``EventLoop/current`` if `loop` is `nil`. In this case,
    /// the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also traps if `futures` belong to
    /// different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// let greeted = Future.allSettled(members.map { $0.write("hello\n") }, on: loop)
    /// greeted.whenSuccess { print($0.count(where: \.isSuccess), "of", $0.count, "have been greeted") }
    /// ```
    public static func allSettled(
        _ futures: some Sequence<Future>, on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future<[Result<Value, any Error>]> {
        settle(futures, on: loop, token, conclude: { .success($0) })
    }

    /// When one of `futures` completes, calls `body` with the outcome and the index of that future. When all
    /// futures have completed, the returned future completes with the values that `body` returned, in the
    /// order of `futures`.
    ///
    /// If `body` throws, the returned future fails with that error, and the futures that are still pending
    /// are asked to cancel. Cancelling `token` cancels the returned future, and does not cancel `futures`. If
    /// `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current`` if `loop` is
    /// `nil`. In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also traps if
    /// `futures` belong to different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// let sizes = Future.mapEach(names.map { fetch($0) }, on: loop) { page, index in
    ///     "\(names[index]): \(page.value?.count ?? 0) bytes"
    /// }
    /// ```
    public static func mapEach<NewValue>(
        _ futures: some Sequence<Future>, on loop: EventLoop? = nil, token: CancellationToken = .none,
        _ body: @escaping (Result<Value, any Error>, _ index: Int) throws -> NewValue
    ) -> Future<[NewValue]> {
        let isOver = token.isCancelled
        let mapped = futures.enumerated().map { index, future in
            future.mapResult(token: isOver ? token : .none) { result in try body(result, index) }
        }
        let all = Future<NewValue>.all(mapped, on: loop, token: token)
        // Tied to the token after `all` has been, since `all` would otherwise see a cancelled future and
        // cancel the other ones.
        if let condition = token.condition, !isOver {
            for future in mapped { future.cell.tie(to: condition, cancellingSource: false) }
        }
        return all
    }

    private static func settle<Output>(
        _ futures: some Sequence<Future>, on loop: EventLoop?, _ token: CancellationToken,
        _ cancelRemaining: CancelRemaining = .always,
        _ onFirstFailure: ((any Error, _ index: Int) -> Void)? = nil,
        conclude: @escaping ([Result<Value, any Error>]) -> Result<Output, any Error>
    ) -> Future<Output> {
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: conclude([])
        ) { all, count in
            let results = ArrivedValues<Result<Value, any Error>>(count)
            var firstFailure = onFirstFailure.map(all.carrying)
            return { result, index in
                if firstFailure != nil, let error = result.failure, let handler = firstFailure.take() {
                    all.call(handler, error, index)
                }
                if results.add(result, at: index) { all.complete(conclude(results.all)) }
            }
        }
    }
}

/// The receiver of `all`: it ends the group with all values, or with the first failure.
@usableFromInline
final class AllValues<Value>: ArrivalReceiver {
    @usableFromInline let all: Gathering<[Value]>
    @usableFromInline let values: ArrivedValues<Value>
    @usableFromInline let onFirstFailure: ((any Error, _ index: Int) -> Void)?

    @inlinable
    init(_ all: Gathering<[Value]>, count: Int, _ onFirstFailure: ((any Error, _ index: Int) -> Void)?) {
        self.all = all
        values = ArrivedValues(count)
        self.onFirstFailure = onFirstFailure.map(all.carrying)
    }

    @inlinable
    func keep(_ source: CellPointer, at index: Int) -> Bool {
        source.hasSucceeded ? values.add(source.readPayload(as: Value.self), at: index) : true
    }

    @inlinable
    func end(with source: CellPointer, at index: Int) {
        guard !source.hasSucceeded else { return all.succeed(values.all) }
        let error = source.readFailure()
        if let onFirstFailure { all.call(onFirstFailure, error, index) }
        all.fail(error)
    }
}

/// Returns all values if every result has one. Otherwise returns the errors, or cancellation if there are no
/// errors.
private func join<Value>(_ results: [Result<Value, any Error>]) -> Result<[Value], any Error> {
    let errors = results.compactMap(\.failure)
    return switch errors.count {
    case 0: Result { try results.map { try $0.get() } }
    case 1: .failure(errors[0])
    default: .failure(AggregateError(errors))
    }
}
