public import Futures

extension SocketServer {
    /// Serves until the process gets one of `signals`, then drains as ``drain(within:)`` does. Another of them, or the
    /// same once more, means now: what is open is aborted.
    ///
    /// ```swift
    /// let summary = try loop.run(until: server.drain(on: .terminate, .interrupt, within: .seconds(30)))
    /// ```
    ///
    /// Until it completes, the signals do nothing else. Cancelling it gives them their former effect back, and the
    /// server serves on, or drains on if that has begun.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal that
    /// ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration
    ) -> Future<ShutdownSummary> {
        loop.end(
            on: [signal] + others, within: deadline, begin: { [self] in drain(within: deadline) },
            abort: { [self] in shutdown(within: .zero) })
    }
}
