extension Future {
    /// Completes with the values of all `futures`, in the order of `futures`. If some of the futures fail,
    /// fails with the first failure in the order of `futures`.
    ///
    /// For example, if the third future fails, the returned future waits until the first two futures have
    /// completed, and then fails. `cancelRemaining`, `loop` and `token` have the same meaning as in
    /// ``all(_:failFast:cancelRemaining:on:token:onFirstFailure:)``.
    public static func sequence(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future<[Value]> {
        inOrder(futures, cancelRemaining, on: loop, queued: [], token, into: []) { values, result, _ in
            values.append(try result.get())
        }
    }

    /// Updates `initial` with the value of each of `futures`, in the order of `futures`, and completes with
    /// the result.
    ///
    /// `update` gets a value as soon as the future of that value and all futures before it have completed.
    /// Fails with the first failure in the order of `futures`, or with the error that `update` throws. The
    /// pending futures are then asked to cancel. A future for which other code waits is not cancelled. If
    /// `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current`` if `loop` is
    /// `nil`. In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also traps if
    /// `futures` belong to different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// let size = Future.reduce(names.map { fetch($0) }, into: 0, on: loop) { $0 += $1.count }
    /// ```
    public static func reduce<Total>(
        _ futures: some Sequence<Future>, into initial: Total, on loop: EventLoop? = nil,
        token: CancellationToken = .none, _ update: @escaping (inout Total, Value) throws -> Void
    ) -> Future<Total> {
        inOrder(futures, on: loop, token, into: initial) { total, result, _ in
            try update(&total, result.get())
        }
    }

    /// Combines `initial` with the value of each of `futures`, in the order of `futures`, and completes with
    /// the result. `combine` returns each new total. Everything else is the same as in
    /// ``reduce(_:into:on:token:_:)``.
    public static func reduce<Total>(
        _ futures: some Sequence<Future>, _ initial: Total, on loop: EventLoop? = nil,
        token: CancellationToken = .none, _ combine: @escaping (Total, Value) throws -> Total
    ) -> Future<Total> {
        reduce(futures, into: initial, on: loop, token: token) { total, value in
            total = try combine(total, value)
        }
    }

    /// Combines `initial` with the value of each of `futures`, in the order of `futures`, and completes with
    /// the result. `combine` returns each new total as a future.
    ///
    /// The next call of `combine` comes when the future from the previous call has succeeded. If that future
    /// fails, the returned future fails with the same error. Everything else is the same as in
    /// ``reduce(_:into:on:token:_:)``.
    ///
    /// ```swift
    /// let sent = Future.fold(names.map { fetch($0) }, 0, on: loop) { sent, page in
    ///     connection.write(page).map { sent + page.count }
    /// }
    /// ```
    public static func fold<Total>(
        _ futures: some Sequence<Future>, _ initial: Total, on loop: EventLoop? = nil,
        token: CancellationToken = .none, _ combine: @escaping (Total, Value) throws -> Future<Total>
    ) -> Future<Total> {
        inOrder(futures, on: loop, token, into: initial) { total, result, order in
            order.wait(for: try combine(total, result.get()))
        }
    }

    /// Completes with the first value for which `predicate` returns `true`. The first value is the first in
    /// the order of `futures`, and not in the order of completion. Completes with `nil` if there is no such
    /// value.
    ///
    /// Futures that fail or are cancelled are skipped. When the value is found, the pending futures are asked
    /// to cancel. A future for which other code waits is not cancelled. Fails with the error that `predicate`
    /// throws. If `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current`` if
    /// `loop` is `nil`. In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also
    /// traps if `futures` belong to different loops, or to a loop other than `loop`.
    public static func find(
        _ futures: some Sequence<Future>, on loop: EventLoop? = nil, token: CancellationToken = .none,
        where predicate: @escaping (Value) throws -> Bool
    ) -> Future<Value?> {
        // All outcomes are queued, since the value after a failure may be there already.
        inOrder(futures, on: loop, queued: .all, token, into: nil) { found, result, order in
            guard case .success(let value) = result, try predicate(value) else { return }
            found = value
            order.end()
        }
    }

    private static func inOrder<Total>(
        _ futures: some Sequence<Future>, _ cancelRemaining: CancelRemaining = .always, on loop: EventLoop?,
        queued: Cell.Interest = .success, _ token: CancellationToken, into initial: Total,
        _ take: @escaping (inout Total, Result<Value, any Error>, InOrder<Value, Total>) throws -> Void
    ) -> Future<Total> {
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, queued: queued, token: token,
            ifEmpty: .success(initial)
        ) { all, count in
            let order = InOrder(all, count: count, total: initial, take: take)
            return { result, index in order.arrived(result, index) }
        }
    }
}

/// An object that passes on the outcomes of a group's inputs one by one, in the order of the inputs.
private final class InOrder<Value, Total> {
    private let all: Gathering<Total>
    private let take: (inout Total, Result<Value, any Error>, InOrder) throws -> Void
    private var results: [Result<Value, any Error>?]
    private var next = 0
    private var total: Total
    /// Whether the group waits for a future that returns the next total.
    private var isWaiting = false
    /// Whether `take` is running. `take` may make the next outcome arrive.
    private var isTaking = false

    init(
        _ all: Gathering<Total>, count: Int, total: Total,
        take: @escaping (inout Total, Result<Value, any Error>, InOrder) throws -> Void
    ) {
        self.all = all
        self.take = take
        self.total = total
        results = Array(repeating: nil, count: count)
    }

    func arrived(_ result: Result<Value, any Error>, _ index: Int) {
        results[index] = result
        takeNext()
    }

    func wait(for future: Future<Total>) {
        if future.cell.isDecided(by: all.target) { return all.fail(FutureError.cycle) }
        isWaiting = true
        all.group.wait(
            for: future.cell, queued: .success, isWork: true,
            step: CompleteObserver<Total> { result in
                self.isWaiting = false
                guard case .success(let total) = result else { return self.all.complete(result) }
                withExtendedLifetime(exchange(&self.total, with: total)) {}
                self.takeNext()
            })
    }

    /// Ignores all outcomes that follow.
    func end() { next = results.count }

    private func takeNext() {
        guard !isTaking else { return }
        isTaking = true
        defer { isTaking = false }
        do {
            while !isWaiting, !all.isOver, next < results.count, let result = results[next] {
                results[next] = nil
                next += 1
                try take(&total, result, self)
            }
            if !isWaiting, next == results.count { all.succeed(total) }
        } catch {
            all.fail(error)
        }
    }
}
