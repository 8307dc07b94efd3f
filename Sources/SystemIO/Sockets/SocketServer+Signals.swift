public import Futures

extension SocketServer {
    /// Serves until the process gets one of the signals, then drains as ``drain(within:)`` does. If the process
    /// then gets one of the signals again, resets the connections that are still open at once. From the first signal
    /// on, this may take `deadline` and ``ByteStreams/StreamLimits/closeTimeout`` together.
    ///
    /// ```swift
    /// let summary = try loop.run(until: server.drain(on: .terminate, .interrupt, within: .seconds(30)))
    /// ```
    ///
    /// Until the returned future completes, the signals have no other effect. Cancelling the future restores the
    /// former effect of the signals. After that, the server continues to serve or, if draining has begun, to
    /// drain. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative, or for a signal
    /// that ``Futures/EventLoop/signal(_:)`` refuses.
    public func drain(
        on signal: ProcessSignal, _ others: ProcessSignal..., within deadline: Duration
    ) -> Future<ShutdownSummary> {
        loop.end(
            on: [signal] + others, within: deadline, begin: { [self] in drain(within: deadline) },
            abort: { [self] in shutdown(within: .zero) })
    }
}
