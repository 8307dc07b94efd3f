extension Promise {
    /// Cancels the future when `duration` has passed, unless it completes before; that stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
    public func cancel(after duration: Duration) { fail(after: duration, with: CancellationError()) }

    /// Fails the future with `error`, or else with ``FutureError/timedOut(after:)``, when `duration` has passed,
    /// unless it completes before; that stops the timer.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `duration` is negative.
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
    /// It can still be completed otherwise: the first wins. The others are then asked to cancel if nobody else
    /// waits for them, as `cancelRemaining` says. Fails with ``FutureError/invalidArgument(_:)`` if
    /// there are none. The futures keep the promise alive. Traps if one is of another loop.
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
