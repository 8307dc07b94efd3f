import ExampleSupport
public import TLSStreams

/// A server of plain connections or, with a certificate, of encrypted ones. The handler cannot tell them apart.
public final class StreamServer {
    private enum Kind {
        case plain(SocketServer<SocketConnection>)
        case encrypted(TLSServer)
    }

    private let kind: Kind
    private let limits: StreamLimits
    private let encryptedBytes = ByteCount()

    /// Creates a server that does not listen yet. It closes each connection when the future of `handler` completes.
    public init(
        on loop: EventLoop, _ encryption: ServerEncryption, limits: StreamLimits = StreamLimits(),
        _ handler: @escaping (_ connection: ByteStream) throws -> Future<Void>
    ) throws {
        self.limits = limits
        guard let context = try encryption.context(on: loop) else {
            kind = .plain(SocketServer(on: loop, handler))
            return
        }
        var handshakes = TLSHandshakeLimits()
        if let timeout = limits.handshakeTimeout { handshakes.timeout = timeout }
        let bytes = encryptedBytes
        let server = try TLSServer(context: context, limits: limits, handshakes: handshakes) { connection in
            try handler(connection).always { bytes.count += connection.bytesSent }
        }
        kind = .encrypted(server)
        context.reloadAtHangup()
    }

    /// Says what goes wrong with a connection, or with its handshake.
    public func onError(_ report: @escaping (any Error) -> Void) {
        switch kind {
        case .plain(let server): server.onConnectionError = report
        case .encrypted(let server):
            server.onConnectionError = report
            server.onHandshakeFailure = { say("a handshake failed: \($0)") }
        }
    }

    public func setAcceptLimits(_ limits: AcceptLimits) throws {
        switch kind {
        case .plain(let server): try server.setAcceptLimits(limits)
        case .encrypted(let server): try server.tcp.setAcceptLimits(limits)
        }
    }

    /// Has each connection that comes later begin with a header of the PROXY protocol, which names the client.
    public func acceptProxyProtocol(_ rules: ProxyProtocol) {
        switch kind {
        case .plain(let server): server.proxyProtocol = rules
        case .encrypted(let server): server.tcp.proxyProtocol = rules
        }
    }

    // MARK: Listening

    @discardableResult
    public func listen(host: String, port: Int, options: ListenOptions = ListenOptions()) throws
        -> SocketAddress
    {
        var options = options
        options.limits = limits
        switch kind {
        case .plain(let server): return try server.listen(host: host, port: port, options: options)
        case .encrypted(let server): return try server.listen(host: host, port: port, options: options)
        }
    }

    public func listen(on socket: ActivatedSocket) throws {
        switch kind {
        case .plain(let server): try server.listen(on: socket, limits: limits)
        case .encrypted(let server): try server.listen(on: socket)
        }
    }

    /// Listens at a path for plain connections. An encrypted server throws an error.
    @discardableResult
    public func listen(path: String, options: ListenOptions = ListenOptions()) throws -> SocketAddress {
        guard case .plain(let server) = kind else {
            throw FutureError.invalidArgument("encrypted connections are not accepted at a path; give a port")
        }
        var options = options
        options.limits = limits
        return try server.listen(path: path, options: options)
    }

    // MARK: Looking at it

    public var localAddresses: [SocketAddress] {
        switch kind {
        case .plain(let server): server.localAddresses
        case .encrypted(let server): server.tcp.localAddresses
        }
    }

    /// The numbers of connections and of bytes, as the sockets count them.
    public var statistics: ServerStatistics {
        switch kind {
        case .plain(let server): server.statistics
        case .encrypted(let server): server.tcp.statistics
        }
    }

    /// The numbers of handshakes. `nil` if the server is plain.
    public var handshakes: TLSHandshakeStatistics? {
        guard case .encrypted(let server) = kind else { return nil }
        return server.handshakes
    }

    /// The number of bytes that handlers have sent.
    public var bytesSent: Int {
        guard case .plain(let server) = kind else { return encryptedBytes.count }
        return server.statistics.bytesSent
    }

    /// How connections have ended since the server began to end.
    public var shutdownSummary: ShutdownSummary {
        switch kind {
        case .plain(let server): server.shutdownSummary
        case .encrypted(let server): server.shutdownSummary
        }
    }
}

extension StreamServer: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .plain(let server): "\(server)"
        case .encrypted(let server): "\(server)"
        }
    }
}

extension StreamServer: ScopeMember {
    public var membership: ScopeMembership {
        switch kind {
        case .plain(let server): server.membership
        case .encrypted(let server): server.membership
        }
    }
}

private final class ByteCount {
    var count = 0
}
