extension Promise {
    /// Fails the future when `duration` has passed. The failure is `error`, or
    /// ``FutureError/timedOut(after:)`` if `error` is `nil`. If `error` is a `CancellationError`, the future
    /// is cancelled instead. If the future completes before `duration` has passed, the timer stops.
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
            // Another future decides now, and has cancelled the timer.
            if cell.isLockedIn { return }
            cell.fail(result.thrownError ?? error ?? FutureError.timedOut(after: duration))
        }
        attachments.cancelAtEnd(timer)
    }

    /// Completes the future with the outcome of the first of `futures` to complete. If this promise's future
    /// has completed before, that outcome changes nothing.
    ///
    /// The promise can still be completed in another way: the first completion wins. The pending ones of
    /// `futures` are then asked to cancel, as `cancelRemaining` says. A future that something else waits for
    /// is left alone. Until the first completion, `futures` keep the promise alive. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `futures` is empty. Traps if one of `futures` belongs to a
    /// different loop than this promise.
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
