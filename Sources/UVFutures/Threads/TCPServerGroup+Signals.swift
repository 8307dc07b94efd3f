public import Futures

extension TCPServerGroup {
    /// Serves until the process gets one of `signals`, then drains as ``drain(within:on:)`` does. Another of them, or
    /// the same once more, means now: what is open is aborted. The future is of `loop`, and keeps it running.
    ///
    /// ```swift
    /// let summary = try loop.run(until: group.drain(on: .terminate, .interrupt, within: .seconds(30), for: loop))
    /// ```
    ///
    /// Until it completes, the signals do nothing else. Cancelling it gives them their former effect back, and the
    /// group serves on, or drains on if that has begun.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal that
    /// ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration, for loop: EventLoop
    ) -> Future<ShutdownSummary> {
        // The servers are elsewhere, and so is what keeps their loops running.
        loop.end(
            on: [signal] + others, within: deadline, keepsAlive: true,
            begin: { [self] in drain(within: deadline, on: loop) },
            abort: { [self] in shutdown(within: .zero, on: loop) })
    }
}
