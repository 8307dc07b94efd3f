internal import Futures

extension TCPConnection {
    /// Makes the system send probes to a peer that has been silent for `idle`, one probe in each `interval`.
    /// After `probes` probes in a row without an answer, the connection fails with ``SystemError/Code/timedOut``.
    /// If `idle` is `nil`, which is the state of a new connection, the system sends no probes. Durations are
    /// rounded up to whole seconds.
    ///
    /// Use this function to detect, while this side has nothing to send, that the peer has vanished. The
    /// detection takes `idle` plus `probes` times `interval`. For example, after `setKeepAlive(after:
    /// .seconds(60))` the detection takes 70 s.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `idle` or `interval` is not positive or is longer
    /// than 32,767 s. Throws the same error if `probes` is not from 1 to 127. Throws
    /// ``ByteStreams/StreamError/connectionClosed`` if this side has closed the connection. If an error broke the
    /// connection, throws that error. Throws ``SystemError`` if the system refuses.
    ///
    /// Sets `SO_KEEPALIVE`, `TCP_KEEPIDLE`, `TCP_KEEPINTVL` and `TCP_KEEPCNT`.
    public func setKeepAlive(
        after idle: Duration?, every interval: Duration = .seconds(1), probes: Int = 10
    ) throws {
        try checkConnected()
        guard let idle else { return try tcp.setKeepAlive(nil) }
        try requireArgument(
            (1...127).contains(probes), "probes must be from 1 to 127, not \(probes)")
        try tcp.setKeepAlive(
            KeepAlive(
                idle: try wholeSeconds(idle, "keep-alive time"),
                interval: try wholeSeconds(interval, "keep-alive interval"),
                probes: CInt(probes)))
    }

    /// Makes the connection fail with ``SystemError/Code/timedOut`` when sent bytes have waited longer than
    /// `limit` for the peer to acknowledge them. If `limit` is `nil`, which is the state of a new connection,
    /// the system chooses the time, about a quarter of an hour. `limit` is rounded up to whole milliseconds.
    ///
    /// Use this function to detect, while sent bytes wait to be acknowledged, that the peer has vanished. For
    /// a peer that still answers but reads no bytes, use ``ByteStreams/StreamLimits/writeTimeout``.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `limit` is not positive or is longer than 24 days.
    /// If the connection has ended or the system refuses, throws the same errors as
    /// ``setKeepAlive(after:every:probes:)``. Sets `TCP_USER_TIMEOUT`.
    public func setUserTimeout(_ limit: Duration?) throws {
        try checkConnected()
        guard let limit else { return try tcp.setUserTimeout(milliseconds: 0) }
        guard limit > .zero, limit <= .seconds(86_400 * 24), let nanoseconds = limit.wholeNanoseconds else {
            throw FutureError.invalidArgument(
                "the user timeout must be positive and at most 24 days, not \(limit)")
        }
        try tcp.setUserTimeout(milliseconds: CInt((nanoseconds + 999_999) / 1_000_000))
    }

    private func wholeSeconds(_ duration: Duration, _ what: String) throws -> CInt {
        try requireArgument(
            duration > .zero && duration <= .seconds(32_767),
            "the \(what) must be positive and at most 32767 seconds, not \(duration)")
        let (seconds, rest) = duration.components
        return CInt(seconds + (rest > 0 ? 1 : 0))
    }
}
