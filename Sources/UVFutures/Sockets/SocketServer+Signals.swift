public import Futures

extension SocketServer {
    /// Serves until the process gets one of `signals`, then drains as ``drain(within:)`` does. Any further one of these
    /// signals aborts what is open.
    ///
    /// ```swift
    /// let summary = try loop.run(until: server.drain(on: .terminate, .interrupt, within: .seconds(30)))
    /// ```
    ///
    /// Until it completes, the signals do nothing else. Cancelling it restores their former effect, and the server
    /// continues to serve, or to drain if that has begun.
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
