public import Futures
internal import SystemIO

extension TCPServerGroup {
    /// Serves until the process gets one of the signals, then drains as ``drain(within:on:)`` does. If the
    /// process then gets one of the signals again, aborts the connections that are still open. The returned
    /// future belongs to `loop`, and keeps `loop` running.
    ///
    /// ```swift
    /// let summary = try loop.run(until: group.drain(on: .terminate, .interrupt, within: .seconds(30), for: loop))
    /// ```
    ///
    /// Until the returned future completes, the signals have no other effect. Cancelling the future restores the
    /// former effect of the signals. After that, the group continues to serve or, if draining has begun, to
    /// drain. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal
    /// that ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration, for loop: EventLoop
    ) -> Future<ShutdownSummary> {
        let loop = loop.core
        // The servers run on other loops. Only the wait for the signal keeps this loop running.
        return loop.end(
            on: [signal] + others, within: deadline, keepsAlive: true,
            begin: { [self] in drain(within: deadline, on: loop) },
            abort: { [self] in shutdown(within: .zero, on: loop) })
    }
}
