public import ByteStreams
public import Futures
public import SystemIO

extension TLSConnection {
    /// Connects to `port` of `host` over TCP, and completes with the encrypted connection. The server's certificate has
    /// to be valid for `host`.
    ///
    /// Makes the TCP connection within `timeout`, like
    /// ``UVFutures/TCPConnection/connect(host:port:localHost:localPort:timeout:resolver:limits:on:)``, and then the
    /// handshake within `handshakeTimeout`. Fails with the errors of that function and of
    /// ``ByteStreams/ByteStream/startTLS(client:host:limits:timeout:)``. Cancelling the returned future closes the
    /// socket.
    ///
    /// ```swift
    /// let context = try TLSContext.client(on: loop)
    /// let connection = TLSConnection.connect(host: "example.org", port: 443, context: context)
    /// ```
    public static func connect(
        host: String, port: Int, context: TLSContext, timeout: Duration = .seconds(10),
        handshakeTimeout: Duration = .seconds(10), resolver: (any NameResolver)? = nil,
        limits: StreamLimits = StreamLimits()
    ) -> Future<TLSConnection> {
        return context.loop.attempt {
            try checkHandshake(handshakeTimeout)
            try limits.validate()
            return TCPConnection.connect(
                host: host, port: port, timeout: timeout, resolver: resolver, limits: limits.beneath,
                on: context.loop
            )
            .flatMap { connection in
                connection.startTLS(client: context, host: host, limits: limits, timeout: handshakeTimeout)
                    .recover { error in
                        // If the handshake did not begin, the socket is still open.
                        if connection.isOpen { connection.abort() }
                        throw error
                    }
            }
        }
    }
}
