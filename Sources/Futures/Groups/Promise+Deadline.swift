extension Promise {
    /// Fails the future if it is still pending when `duration` has passed. The failure is `error`, or
    /// ``FutureError/timedOut(after:)`` if `error` is `nil`. If `error` is a `CancellationError`, the future
    /// is cancelled instead. If the future completes earlier, the timer stops, and nothing else happens.
    ///
    /// If `duration` is negative, the future fails with ``FutureError/invalidArgument(_:)``, even if there is
    /// an `error`.
    ///
    /// ```swift
    /// promise.fail(after: .seconds(5), with: FutureError.message("the peer does not answer"))
    /// ```
    public func fail(after duration: Duration, with error: (any Error)? = nil) {
        guard let attachments else { return }
        let timer = loop.sleep(for: duration)
        let cell = cell
        timer.whenComplete { result in
            // Another future decides now, and has cancelled the timer.
            if cell.isLockedIn { return }
            cell.fail(result.thrownError ?? error ?? FutureError.timedOut(after: duration))
        }
        attachments.cancelAtEnd(timer)
    }

    /// Completes the future with the outcome of the first of `futures` that completes. If the future of this
    /// promise has completed already, does nothing.
    ///
    /// You can still complete the promise in another way: the first completion wins. After the first
    /// completion, the futures of `futures` that are still pending are asked to cancel, as `cancelRemaining`
    /// says. Even with `.always`, a future for which other code waits is not cancelled. Until the first
    /// completion, `futures` keep the promise alive. If `futures` is empty, the future of this promise fails
    /// with ``FutureError/invalidArgument(_:)``. Traps if one of `futures` belongs to a different loop from
    /// the loop of this promise.
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
