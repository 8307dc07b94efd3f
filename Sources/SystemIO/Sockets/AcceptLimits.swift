internal import Futures

/// The limits on the connections that a server accepts. Further connections wait in the system, in the
/// backlog of the socket, or take the places of silent ones: see ``peersSpeakFirst``.
public struct AcceptLimits: Hashable, Sendable {
    /// The most connections that may be open at the same time. Connections that linger (see
    /// ``ByteStreams/ByteStream/close(within:)``) do not count. `nil` means as many as the system allows.
    public var maxConnections: Int?
    /// The number of open connections at which a full server accepts again. A server is full when
    /// ``maxConnections`` are open. It then accepts no connections until only `lowWaterMark` connections, or
    /// fewer, are open. Otherwise, a full server would resume and stop accepting with each connection that
    /// ends. `nil` means seven eighths of ``maxConnections``.
    public var lowWaterMark: Int?
    /// The most connections that each listening socket accepts without a break. Then the loop looks at other sockets
    /// and at timers before that socket accepts more. The break comes after half a millisecond if the handlers of these
    /// connections take that long.
    public var perTurn: Int
    /// Whether each peer has to speak first, as in HTTP. The default is `false`: in some protocols, such as SMTP, the
    /// server speaks first, and a silent peer is a good one.
    ///
    /// If it is `true`, a connection has its place for good only when your handler has read a whole first message,
    /// or a first chunk. Until then, the connection may have to make room: if another one comes while the server is
    /// full or has no descriptors left, the server resets the oldest of these connections that has waited for at least
    /// a quarter of a second. Such a connection ends with ``ByteStreams/StreamError/madeRoom``, counts as
    /// ``CloseReason/madeRoom``, and is not reported to ``SocketServer/onConnectionError``. The observer of the loop
    /// gets a warning, at most one a minute.
    ///
    /// Whatever this property is, the server awaits three things in the same way: the header of a proxy
    /// (``SocketServer/proxyProtocol``), the greeting of a TLS client, and each message that the client then owes the
    /// handshake. Changes apply to connections that are accepted later.
    public var peersSpeakFirst: Bool

    public init(
        maxConnections: Int? = nil, lowWaterMark: Int? = nil, perTurn: Int = 64, peersSpeakFirst: Bool = false
    ) {
        self.maxConnections = maxConnections
        self.lowWaterMark = lowWaterMark
        self.perTurn = perTurn
        self.peersSpeakFirst = peersSpeakFirst
    }

    /// The number of open connections at which a full server resumes accepting: ``lowWaterMark`` or its
    /// default value.
    var lowMark: Int {
        let most = maxConnections ?? .max
        return lowWaterMark ?? most - max(1, most / 8)
    }

    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the limits contradict each other.
    func validate() throws {
        try requireArgument("perTurn", perTurn, atLeast: 1)
        guard let maxConnections else {
            try requireArgument(
                lowWaterMark == nil, "lowWaterMark needs a limit; give maxConnections too")
            return
        }
        try requireArgument(
            maxConnections > 0,
            "maxConnections must be at least 1, not \(maxConnections); give nil for no limit")
        try requireArgument(
            (0..<maxConnections).contains(lowMark),
            "lowWaterMark must be at least 0 and below maxConnections, \(maxConnections), not \(lowMark)")
    }
}
