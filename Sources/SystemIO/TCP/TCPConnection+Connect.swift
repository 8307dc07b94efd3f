public import ByteStreams
public import Futures

extension TCPConnection {
    /// Connects to `port` of `host`: a numeric address, `localhost`, or a name. `resolver` looks up a name. If
    /// `resolver` is `nil`, the loop's resolver (``Futures/EventLoop/resolver``) looks up the name.
    ///
    /// If a name has several addresses, this function tries one address after another, alternating between IPv6
    /// and IPv4, as in [RFC 8305](https://www.rfc-editor.org/rfc/rfc8305). The attempt for the next address
    /// starts when the latest attempt has had no answer for 250 ms, or when an attempt has failed. Earlier
    /// attempts continue. The connection uses the first address that answers. Cancelling the returned future ends
    /// all attempts at once, and closes the sockets.
    ///
    /// `localHost` and `localPort` are the address and the port of this side. `localHost` is a numeric address.
    /// If you leave out `localHost` or `localPort`, the system chooses the address or the port. An attempt fails
    /// if its address and `localHost` are of different families, one IPv4 and the other IPv6.
    ///
    /// If the connection to a numeric `host` fails, the error is a ``SystemError``. If a name cannot be resolved,
    /// the error is a ``ResolutionError``. If the connections to all addresses of a name have failed, the
    /// error is a ``ConnectError``. A look-up or an attempt that is still pending when `timeout` has passed
    /// since the call fails with the code ``SystemError/Code/timedOut``. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` or `localHost` is malformed, or if another
    /// argument is out of range.
    ///
    /// ```swift
    /// let greeting = TCPConnection.connect(host: "example.org", port: 7007, timeout: .seconds(3), on: loop)
    ///     .flatMap { connection in connection.readLine().always { connection.close() } }
    /// ```
    ///
    /// Binds [`uv_tcp_connect`](https://docs.libuv.org/en/v1.x/tcp.html).
    public static func connect(
        host: String, port: Int, localHost: String? = nil, localPort: Int = 0,
        timeout: Duration = .seconds(10), resolver: (any NameResolver)? = nil,
        limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) -> Future<TCPConnection> {
        return loop.attempt {
            try check(timeout, limits, on: loop)
            try checkTarget(host: host, port: port)
            let fromPort = try SocketAddress.checked(localPort)
            let local = try localHost.map { try SocketAddress(host: $0, port: localPort) }
            let deadline = loop.now.advanced(by: timeout)
            // A pending attempt keeps the core of the loop, but not the user's handle. So the loop can end
            // when the user drops the handle.
            let core = loop.core
            // Connects to the first of `addresses` that answers.
            func race(_ addresses: [SocketAddress], isNumeric: Bool = false) -> Future<TCPConnection> {
                let race = ConnectRace(
                    addresses, on: core,
                    makeSocket: { address throws(SystemError) in
                        let local = try localEnd(local, fromPort, towards: address)
                        return try core.system.makeSocket(from: local, to: address)
                    },
                    connected: { socket in
                        TCPConnection(socket.connected(), limits: .of(limits, on: core))
                    },
                    failure: { errors in
                        if isNumeric { return errors[0] }
                        return ConnectError(host: host, port: port, errors: errors)
                    })
                return race.start(until: deadline)
            }
            switch try Host(host, port: port) {
            case .numeric(let address): return race([address], isNumeric: true)
            case .localhost(let addresses): return race(addresses)
            case .name(let name):
                return loop.resolve(name, port: port, by: resolver)
                    .limited(to: timeout, lookingUp: name)
                    .flatMap { addresses in race(addresses) }
            }
        }
    }
}

extension TCPConnection {
    /// Checks that `host` is well-formed and that `port` is from 1 to 65535. Does not look up the name, and does
    /// not connect.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `host` or `port` is wrong, so that no connection
    /// could ever work. Use this function when your program reads its settings.
    public static func checkTarget(host: String, port: Int) throws {
        _ = try Host(host, port: port)
        try requireArgument(port > 0, "cannot connect to port 0; give a port from 1 to 65535")
    }
}

/// Returns the address to which a socket is bound before it connects to `peer`: the `local` address and port that the
/// user asks for. Returns `nil` if the system may choose both.
private func localEnd(
    _ local: SocketAddress?, _ port: UInt16, towards peer: SocketAddress
) throws(SystemError) -> SocketAddress? {
    guard let local else {
        if port == 0 { return nil }
        return SocketAddress(canonicalHost: peer.isIPv6 ? "::" : "0.0.0.0", port: port)
    }
    guard local.isIPv6 == peer.isIPv6 else {
        throw SystemError(.addressFamilyNotSupported, "connect", local: local, peer: peer)
    }
    return local
}
