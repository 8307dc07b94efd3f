extension Future {
    /// Completes with the values of all `futures`, in their order, or with an empty array if there are none.
    ///
    /// Fails, or is cancelled, as soon as one of them is. The others are then asked to cancel if nobody else waits
    /// for them, as far as `cancelRemaining` says. With `failFast: false` waits for all of them first. Then it fails
    /// with the error if there was one, or with an ``AggregateError`` if there were several. Without errors it is
    /// cancelled if one of the futures was.
    ///
    /// Calls `onFirstFailure` once, with the error and the index of the future that failed first. Cancelling `token`
    /// cancels the whole, and leaves the futures alone.
    /// An empty group belongs to `loop`, or else to the loop of the current callback. It traps if there is neither.
    /// Traps if the futures are not all of one loop.
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
        guard failFast else {
            return allAtTheEnd(futures, cancelRemaining, on: loop, token, onFirstFailure)
        }
        return gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: .success([])
        ) { all, count in
            var values = ArrivedValues<Value>(count)
            return { result, index in
                switch result {
                case .success(let value):
                    if let values = values.add(value, at: index) { all.succeed(values) }
                case .failure(let error):
                    if let onFirstFailure { all.call(onFirstFailure, result, index) }
                    all.fail(error)
                }
            }
        }
    }

    /// Like `all`, but does not fail fast.
    @usableFromInline
    static func allAtTheEnd(
        _ futures: some Sequence<Future>, _ cancelRemaining: CancelRemaining, on loop: EventLoop?,
        _ token: CancellationToken, _ onFirstFailure: ((any Error, _ index: Int) -> Void)?
    ) -> Future<[Value]> {
        var firstFailure = onFirstFailure
        func hasFailed(_ all: Gathering<[Value]>, _ result: Result<Value, any Error>, _ index: Int) {
            guard result.failure != nil, let handler = firstFailure.take() else { return }
            all.call(handler, result, index)
        }
        return settle(futures, on: loop, token, cancelRemaining, observer: hasFailed, conclude: join)
    }

    /// Completes with the outcomes of all `futures`, in their order, or with an empty array if there are none.
    ///
    /// Never fails. Cancelling `token` cancels the whole, and leaves the futures alone. Cancellation of one future
    /// reads as `CancellationError`. An empty group belongs to `loop`, or else to the loop of the current callback.
    /// It traps if there is neither. Traps if the futures are not all of one loop.
    ///
    /// ```swift
    /// let greeted = Future.allSettled(members.map { $0.write("hello\n") }, on: loop)
    /// greeted.whenSuccess { print($0.count(where: \.isSuccess), "of", $0.count, "have been greeted") }
    /// ```
    public static func allSettled(
        _ futures: some Sequence<Future>, on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future<[Result<Value, any Error>]> {
        settle(futures, on: loop, token) { .success($0) }
    }

    /// Calls `body` with the outcome and the index of each of `futures`, as it completes, and collects what `body`
    /// returns in their order.
    ///
    /// Fails with the first error that `body` throws, and asks what is pending then to cancel. Cancelling `token`
    /// cancels the whole, and leaves the futures alone. An empty group belongs to `loop`, or else to the loop of the
    /// current callback. It traps if there is neither.
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
        // After the whole: it would ask the others to cancel if one of these ended first.
        if let condition = token.condition, !isOver {
            for future in mapped { future.cell.tie(to: condition, cancellingSource: false) }
        }
        return all
    }

    private static func settle<Output>(
        _ futures: some Sequence<Future>, on loop: EventLoop?, _ token: CancellationToken,
        _ cancelRemaining: CancelRemaining = .always,
        observer: @escaping (Gathering<Output>, Result<Value, any Error>, _ index: Int) -> Void = { _, _, _ in
        },
        conclude: @escaping ([Result<Value, any Error>]) -> Result<Output, any Error>
    ) -> Future<Output> {
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: conclude([])
        ) { all, count in
            var results = [Result<Value, any Error>?](repeating: nil, count: count)
            var missing = count
            return { result, index in
                observer(all, result, index)
                results[index] = result
                missing -= 1
                if missing == 0 { all.complete(conclude(results.map { $0! })) }
            }
        }
    }
}

/// The values that a group has so far.
@usableFromInline
struct ArrivedValues<Value> {
    @usableFromInline var values: [Value?]
    @usableFromInline var missing: Int

    @inlinable
    init(_ count: Int) {
        values = Array(repeating: nil, count: count)
        missing = count
    }

    /// Adds a value. Returns all values if it was the last.
    @inlinable
    mutating func add(_ value: Value, at index: Int) -> [Value]? {
        values[index] = .some(value)
        missing -= 1
        return missing == 0 ? values.map { $0! } : nil
    }
}

/// Returns all values, or what prevents them: the errors, or else cancellation.
private func join<Value>(_ results: [Result<Value, any Error>]) -> Result<[Value], any Error> {
    let errors = results.compactMap(\.failure)
    return switch errors.count {
    case 0: Result { try results.map { try $0.get() } }
    case 1: .failure(errors[0])
    default: .failure(AggregateError(errors))
    }
}
