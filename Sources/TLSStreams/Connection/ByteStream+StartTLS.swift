public import ByteStreams
internal import FoundationEssentials
public import Futures
internal import SystemIO

func checkHandshake(_ timeout: Duration) throws {
    try requirePositive("the handshake timeout", timeout)
}

extension ByteStream {
    /// Encrypts this stream from here on, as the client. Completes with the encrypted connection when the handshake is
    /// complete. The server's certificate has to be trusted, and valid for `host`, a host name or a numeric address.
    ///
    /// Bytes that have arrived but have not been read belong to the handshake. From now on, this stream belongs to the
    /// encrypted connection: do not use it yourself. `limits` apply to the encrypted connection. The time limits of
    /// this stream itself stay in force. If one of them passes, the connection ends without `close_notify`.
    ///
    /// Fails with ``TLSError`` if the handshake fails or takes longer than `timeout`. If an error breaks this stream,
    /// fails with that error. Fails with ``ByteStreams/StreamError/readPending`` if a read is pending, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` for a malformed host, for limits out of range, or for a server's
    /// context. After a failed handshake, this stream sends the alert and closes. A handshake that is cancelled or
    /// times out aborts this stream. Traps if `context` belongs to another loop.
    ///
    /// ```swift
    /// let secure = connection.startTLS(client: context, host: "mail.example.org")
    /// ```
    public func startTLS(
        client context: TLSContext, host: String, limits: StreamLimits = StreamLimits(),
        timeout: Duration = .seconds(10)
    ) -> Future<TLSConnection> {
        startTLS(context, limits, timeout, host: host) { engine in
            guard case .client(let configuration) = context.role else {
                throw FutureError.invalidArgument(
                    "startTLS(client:) was given the context of a server; give one made by TLSContext.client")
            }
            let absolute = host.hasSuffix(".") ? String(host.dropLast()) : host
            let isAddress = (try? SocketAddress(host: absolute, port: 0)) != nil
            // A zone says which network an address is on. Certificates do not contain it.
            let name = isAddress ? String(absolute.prefix { $0 != "%" }) : absolute.lowercased()
            try requireArgument(
                !name.isEmpty && !name.utf8.contains(0) && engine.expect(host: name, isAddress: isAddress),
                "startTLS(client:) was given the host “\(host)”; give a name or a numeric address")
            engine.verify(asks: true, requires: true, at: loop.date)
            engine.trust = configuration.trust
            if !isAddress { engine.serverName = name }
            let resumes = configuration.resumesSessions && !configuration.trust.asksClosure
            if resumes { resumeSessions(of: isAddress ? absolute : name, context, engine) }
        }
    }

    /// Encrypts this stream from here on, as the server. Completes with the encrypted connection when the handshake is
    /// complete.
    ///
    /// Everything else is as in ``startTLS(client:host:limits:timeout:)``.
    public func startTLS(
        server context: TLSContext, limits: StreamLimits = StreamLimits(), timeout: Duration = .seconds(10)
    ) -> Future<TLSConnection> {
        startTLS(server: context, limits: limits, timeout: timeout, after: Data())
    }

    /// Begins with `bytes` that have already been read from the client.
    func startTLS(
        server context: TLSContext, limits: StreamLimits, timeout: Duration, after bytes: Data,
        onOwing: ((Bool) -> Void)? = nil
    ) -> Future<TLSConnection> {
        startTLS(context, limits, timeout, host: nil, after: bytes, onOwing) { engine in
            guard case .server(let configuration) = context.role else {
                throw FutureError.invalidArgument(
                    "startTLS(server:) was given the context of a client; give one made by TLSContext.server")
            }
            engine.verify(configuration, at: loop.date)
        }
    }

    private func startTLS(
        _ context: TLSContext, _ limits: StreamLimits, _ timeout: Duration, host: String?,
        after bytes: Data = Data(), _ onOwing: ((Bool) -> Void)? = nil,
        _ prepare: (OpenSSLConnection) throws -> Void
    ) -> Future<TLSConnection> {
        core.checkThread()
        guard context.core === core else {
            trap("startTLS was given a context of another event loop. Make one on the loop of the stream.")
        }
        return core.attempt {
            try checkHandshake(timeout)
            try limits.validate()
            let engine = OpenSSLConnection(context.raw, isServer: host == nil)
            try prepare(engine)
            let transport = TLSTransport(self, context, engine, after: bytes)
            try transport.begin()
            let handshake = TLSHandshake(transport, host: host, limits: limits)
            handshake.onOwing = onOwing
            transport.handshake = handshake
            context.noteExpiry()
            return handshake.start(within: timeout)
        }
    }

    private func resumeSessions(of host: String, _ context: TLSContext, _ engine: OpenSSLConnection) {
        let port = (self as? SocketConnection)?.peerAddress?.port
        let key = "\(host):\(port ?? 0)"
        if let session = context.sessions.session(for: key, at: loop.date) { engine.resume(session) }
        engine.onSession = { [sessions = context.sessions] session in sessions.add(session, for: key) }
    }
}
