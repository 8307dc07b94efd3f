internal import ByteStreams
internal import Futures

extension TCPConnection {
    /// Makes the system probe a peer that has been silent for `idle`. The system sends one probe in each `interval`,
    /// and breaks the connection when `probes` of them have not been answered. With `nil`, which is the default state,
    /// the system never probes. Durations are rounded up to whole seconds.
    ///
    /// Use this to detect a peer that vanished while this side waits for nothing from the peer. The detection
    /// takes `idle` plus `probes` times `interval`. For example, `setKeepAlive(after: .seconds(60))` takes 70
    /// s. The connection then fails with ``UVError/Code/timedOut``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `idle` or `interval` is not positive or is longer than
    /// 32,767 s. Throws the same error if `probes` is not from 1 to 127. Throws
    /// ``ByteStreams/StreamError/connectionClosed`` if this side has closed the connection. If an error broke
    /// the connection, throws that error. Throws ``UVError`` if the system refuses. Sets `SO_KEEPALIVE`,
    /// `TCP_KEEPIDLE`, `TCP_KEEPINTVL` and `TCP_KEEPCNT`.
    public func setKeepAlive(
        after idle: Duration?, every interval: Duration = .seconds(1), probes: Int = 10
    ) throws {
        try checkConnected()
        guard let idle else { return try tcp.setKeepAlive(nil) }
        try requireArgument(
            (1...127).contains(probes), "a keep-alive of \(probes) probes makes no sense; give 1 to 127")
        try tcp.setKeepAlive(
            UVTCP.KeepAlive(
                idle: try wholeSeconds(idle, "keep-alive"),
                interval: try wholeSeconds(interval, "keep-alive interval"),
                probes: CInt(probes)))
    }

    /// Makes the system break the connection when sent data has not been acknowledged for `limit`. With `nil`, which is
    /// the default state, the system decides, and gives up after about a quarter of an hour. `limit` is rounded up to
    /// whole milliseconds.
    ///
    /// Use this to detect a peer that vanished. For a peer that is still there but takes no data, use
    /// ``ByteStreams/StreamLimits/writeTimeout``. The connection then fails with ``UVError/Code/timedOut``.
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `limit` is not positive or is longer than 24
    /// days. Throws the other errors of ``setKeepAlive(after:every:probes:)``, too. Sets `TCP_USER_TIMEOUT`.
    public func setUserTimeout(_ limit: Duration?) throws {
        try checkConnected()
        guard let limit else { return try tcp.setUserTimeout(milliseconds: 0) }
        guard limit > .zero, limit <= .seconds(86_400 * 24), let nanoseconds = limit.wholeNanoseconds else {
            throw FutureError.invalidArgument(
                "a user timeout of \(limit) makes no sense; give more than zero, up to 24 days")
        }
        try tcp.setUserTimeout(milliseconds: CInt((nanoseconds + 999_999) / 1_000_000))
    }

    private func wholeSeconds(_ duration: Duration, _ what: String) throws -> CInt {
        try requireArgument(
            duration > .zero && duration <= .seconds(32_767),
            "a \(what) of \(duration) makes no sense; give more than zero, up to 32767 seconds")
        let (seconds, rest) = duration.components
        return CInt(seconds + (rest > 0 ? 1 : 0))
    }
}
