public import Futures

extension TCPServerGroup {
    /// Serves until the process gets one of `signals`, then drains as ``drain(within:on:)`` does. Any further one of
    /// these signals aborts what is open. The future belongs to `loop`, and keeps it running.
    ///
    /// ```swift
    /// let summary = try loop.run(until: group.drain(on: .terminate, .interrupt, within: .seconds(30), for: loop))
    /// ```
    ///
    /// Until it completes, the signals do nothing else. Cancelling it restores their former effect, and the group
    /// continues to serve, or to drain if that has begun.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal that
    /// ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration, for loop: EventLoop
    ) -> Future<ShutdownSummary> {
        let loop = loop.core
        // The servers are elsewhere, and so is what keeps their loops running.
        return loop.end(
            on: [signal] + others, within: deadline, keepsAlive: true,
            begin: { [self] in drain(within: deadline, on: loop) },
            abort: { [self] in shutdown(within: .zero, on: loop) })
    }
}
