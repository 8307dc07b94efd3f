internal import ByteStreams
internal import Futures

extension TCPConnection {
    /// Makes the system probe a peer that has been silent for `idle`, once each `interval`. The system breaks the
    /// connection when `probes` of them were not answered. `nil`, the default state, never probes. Whole seconds,
    /// rounded up.
    ///
    /// This detects a peer that vanished without a word, and from which nothing is expected soon, after `idle` and
    /// `probes` intervals: 70 s for instance by `setKeepAlive(after: .seconds(60))`. The failure is
    /// ``UVError/Code/timedOut``.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `idle` or `interval` is not positive or longer than
    /// 32,767 s, or `probes` is not from 1 to 127. Fails with ``ByteStreams/StreamError/connectionClosed`` if this side
    /// has closed the connection, with what broke it if something did, and with ``UVError`` if the system refuses.
    /// Sets `SO_KEEPALIVE`, `TCP_KEEPIDLE`, `TCP_KEEPINTVL` and `TCP_KEEPCNT`.
    public func setKeepAlive(
        after idle: Duration?, every interval: Duration = .seconds(1), probes: Int = 10
    ) throws {
        try checkConnected()
        guard let idle else { return try tcp.setKeepAlive(nil) }
        guard (1...127).contains(probes) else {
            throw FutureError.invalidArgument(
                "a keep-alive of \(probes) probes makes no sense; give 1 to 127")
        }
        try tcp.setKeepAlive(
            UVTCP.KeepAlive(
                idle: try wholeSeconds(idle, "keep-alive"),
                interval: try wholeSeconds(interval, "keep-alive interval"),
                probes: CInt(probes)))
    }

    /// Makes the system break the connection when sent data has not been acknowledged for `limit`. `nil`, the default
    /// state, leaves it to the system, which gives up after a quarter of an hour or so. Whole milliseconds, rounded up.
    ///
    /// This detects a peer that vanished. For a peer that is there and takes nothing, use
    /// ``ByteStreams/StreamLimits/writeTimeout``. The failure is ``UVError/Code/timedOut``.
    /// Fails as ``setKeepAlive(after:every:probes:)`` does; `limit` may be up to 24 days.
    /// Sets `TCP_USER_TIMEOUT`.
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
        guard duration > .zero, duration <= .seconds(32_767) else {
            throw FutureError.invalidArgument(
                "a \(what) of \(duration) makes no sense; give more than zero, up to 32767 seconds")
        }
        let (seconds, rest) = duration.components
        return CInt(seconds + (rest > 0 ? 1 : 0))
    }
}
