internal import Futures

extension SocketServer {
    /// The rules for connections that come through a proxy, such as HAProxy with `send-proxy-v2`. `nil` by default.
    ///
    /// If it is set, each connection has to begin with a ``ProxyHeader``, in either version. The server reads the
    /// header before its handler gets the connection. Then ``SocketConnection/peerAddress`` is the client, and
    /// ``SocketConnection/proxyHeader`` has the rest. The connection keeps its own addresses if the proxy speaks for
    /// itself, does not know the client, or speaks for a client that sends datagrams. A connection that ends without a
    /// byte, as those of simple health checks do, is closed silently. Every other connection is reset, and
    /// ``onConnectionError`` gets a ``ProxyProtocolError``.
    ///
    /// Applies to connections that are accepted later. For encrypted connections, set it on the server beneath:
    /// `tlsServer.tcp.proxyProtocol`. For a ``TCPServerGroup``, pass it to `listen`. Traps if a value is out of range.
    ///
    /// ```swift
    /// var rules = ProxyProtocol()
    /// rules.isTrusted = { $0?.host == "127.0.0.1" }
    /// server.proxyProtocol = rules
    /// ```
    public var proxyProtocol: ProxyProtocol? {
        get { proxyRules }
        set {
            core.checkThread()
            do { try newValue?.validate() } catch {
                trap("SocketServer.proxyProtocol was given values out of range: \(error).")
            }
            withExtendedLifetime(exchange(&proxyRules, with: newValue)) {}
        }
    }

    /// Reads the header of `connection`, and then gives the connection to the handler.
    func introduce(_ connection: Connection, _ rules: ProxyProtocol) {
        connection.readProxyHeader(rules).whenComplete { [self] result in
            switch result {
            case .success(true):
                if !expectsGreetings { awaitMessage(of: connection) }
                handle(connection)
            case .success(false): handled(connection, .success(()))
            case .failure(let error): handled(connection, .failure(error))
            }
        }
    }
}
