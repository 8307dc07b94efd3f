extension Promise {
    /// Fails the future when `duration` has passed: with `error`, or else with ``FutureError/timedOut(after:)``. A
    /// `CancellationError` cancels it. If the future completes before, the timer stops.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    ///
    /// ```swift
    /// promise.fail(after: .seconds(5), with: FutureError.message("the peer does not answer"))
    /// ```
    public func fail(after duration: Duration, with error: (any Error)? = nil) {
        guard let attachments else { return }
        let timer = loop.sleep(for: duration)
        let cell = cell
        timer.whenComplete { result in
            // Then another future decides, and the timer was cancelled for that.
            if cell.isLockedIn { return }
            cell.fail(result.thrownError ?? error ?? FutureError.timedOut(after: duration))
        }
        attachments.cancelAtEnd(timer)
    }

    /// Completes the future with the outcome of the first of `futures` to complete, unless it completes before.
    ///
    /// The future can still be completed in another way: the first wins. The others are then asked to cancel if nobody
    /// else waits for them, as `cancelRemaining` says. Fails with ``FutureError/invalidArgument(_:)`` if `futures` is
    /// empty. The futures keep the promise alive. Traps if one is of another loop.
    public func complete(
        withFirstOf futures: some Sequence<Future<Value>>, cancelRemaining: CancelRemaining = .always
    ) {
        guard let attachments else { return }
        let race = Future.race(futures, cancelRemaining: cancelRemaining, on: loop)
        race.whenComplete { self.complete($0) }
        attachments.cancelAtEnd(race)
    }

    private var loop: LoopCore { cell.loop }
}
