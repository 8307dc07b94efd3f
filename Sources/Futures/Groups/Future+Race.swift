extension Future {
    /// Completes with the outcome of the future that completes first. The outcome may be a value, an error or
    /// cancellation.
    ///
    /// If a future completes and does not win, whatever it has taken is lost, such as an element of a channel or bytes
    /// of a stream: `select(from:)` keeps it.
    ///
    /// The futures that are still pending are then asked to cancel, as `cancelRemaining` says. Even with
    /// `.always`, a future for which other code waits is not cancelled. If `futures` is empty, the returned
    /// future fails with ``FutureError/invalidArgument(_:)``, and belongs to `loop`, or to
    /// ``EventLoop/current`` if `loop` is `nil`. In this case, the call traps if `loop` and
    /// ``EventLoop/current`` are both `nil`. Also traps if `futures` belong to different loops, or to a loop
    /// other than `loop`.
    public static func race(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future {
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: refusal(of: "race")
        ) { race, _ in
            { result, _ in race.complete(result) }
        }
    }

    /// Completes with the value of the future that is the first to succeed. Errors and cancellation count
    /// only if no future has a value.
    ///
    /// If no future has a value, fails with an ``AggregateError`` of all errors, in the order of `futures`.
    /// If all futures were cancelled, the returned future is cancelled. When there is a value, the pending
    /// futures are asked to cancel, as `cancelRemaining` says. Even with `.always`, a future for which other
    /// code waits is not cancelled.
    ///
    /// If `futures` is empty, the returned future fails with ``FutureError/invalidArgument(_:)``, and belongs
    /// to `loop`, or to ``EventLoop/current`` if `loop` is `nil`. In this case, the call traps if `loop` and
    /// ``EventLoop/current`` are both `nil`. Also traps if `futures` belong to different loops, or to a loop
    /// other than `loop`.
    public static func firstSuccess(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future {
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token,
            ifEmpty: refusal(of: "firstSuccess")
        ) { first, count in
            let errors = ArrivedValues<(any Error)?>(count)
            return { result, index in
                guard case .failure = result else { return first.complete(result) }
                guard errors.add(result.failure, at: index) else { return }
                let failures = errors.all.compactMap { $0 }
                first.fail(failures.isEmpty ? CancellationError() : AggregateError(failures))
            }
        }
    }

    /// Completes when `count` of `futures` have completed. The value has the outcomes and the indices of
    /// these futures, in the order in which they completed.
    ///
    /// The futures that are still pending are then asked to cancel, as `cancelRemaining` says. Even with
    /// `.always`, a future for which other code waits is not cancelled. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `futures` has fewer than `count` futures, or if `count` is
    /// negative. If `futures` is empty, the returned future belongs to `loop`, or to ``EventLoop/current`` if
    /// `loop` is `nil`. In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also
    /// traps if `futures` belong to different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// let quorum = Future.firstCompleted(2, of: members.map { $0.readLine() }, on: loop)
    /// ```
    public static func firstCompleted(
        _ count: Int, of futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil, token: CancellationToken = .none
    ) -> Future<[(index: Int, result: Result<Value, any Error>)]> {
        let futures = Array(futures)
        guard count > 0, count <= futures.count else {
            let loop = futures.withCells { cells in LoopCore.ofGroup(cells, loop) }
            guard count != 0 else { return loop.succeeded([]).until(token) }
            let complaint = "count must be from 0 to \(futures.count), the number of futures, not \(count)"
            return loop.failed(FutureError.invalidArgument(complaint))
        }
        return gather(
            futures, cancelRemaining: cancelRemaining, on: loop, token: token, ifEmpty: .success([])
        ) { first, _ in
            var completed: [(index: Int, result: Result<Value, any Error>)] = []
            return { result, index in
                completed.append((index, result))
                if completed.count == count { first.succeed(completed) }
            }
        }
    }
}
