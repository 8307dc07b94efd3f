import ExampleSupport
import ServerSupport
import TLSStreams
import UVFutures

extension EchoServer {
    /// Where a server listens, and the future of its end, which comes after a signal.
    typealias Serving = (addresses: [SocketAddress], ended: Future<ShutdownSummary>)

    /// Serves on the loop of this thread.
    func serve(on loop: EventLoop, _ counts: Counts) throws -> Serving {
        let scope = FutureScope(on: loop)
        let server = scope.add(
            try StreamServer(on: loop, encryption, limits: limits.streamLimits) { try echo($0, counts) })
        server.onError { _ in counts.failed() }
        try server.setAcceptLimits(acceptLimits)
        if systemd {
            try takeSockets(of: server)
        } else {
            try server.listen(
                host: options.host, port: port,
                options: ListenOptions(backlog: backlog, sharingPort: sharePort))
        }
        let datagrams = udp ? try echoDatagrams(at: server.localAddresses[0], in: scope) : nil
        if let unix { try server.listen(path: unix, options: ListenOptions(backlog: backlog)) }
        Insight(of: server, in: scope).start(measuringTurns: measureTurns)
        let ended = scope.drain(on: .interrupt, .terminate, within: .seconds(options.grace)).map {
            if let datagrams { say("datagrams: \(datagrams.statistics.sent) sent back") }
            counts.sent(server.bytesSent)
            say("server: \(server.statistics)")
            if let handshakes = server.handshakes { say(handshakes.line) }
            return server.shutdownSummary
        }
        return (server.localAddresses, ended)
    }

    /// Sends back the datagrams that come to `address`.
    private func echoDatagrams(at address: SocketAddress, in scope: FutureScope) throws -> UDPSocket {
        let loop = scope.loop
        let socket = scope.add(
            try UDPSocket.bind(host: address.host, port: address.port, sharingPort: sharePort, on: loop))
        var peers = DatagramPeers()
        socket.forEachDatagram { bytes, header in
            guard let source = header.source, peers.answers(source, to: address.port, on: loop) else {
                return loop.succeeded()
            }
            return socket.send(bytes, to: source, from: header.localAddress)
        }
        .ignoreFailure()
        return socket
    }

    private func takeSockets(of server: StreamServer) throws {
        let sockets = try Systemd.sockets()
        guard !sockets.isEmpty else {
            throw Refusal(
                "systemd passed no sockets; start by a socket unit, or systemd-socket-activate")
        }
        for socket in sockets {
            try server.listen(on: socket)
            say("took \(socket)")
        }
    }

    /// Serves on several loops, each on a thread of its own, while this one waits.
    func serveOnThreads(_ counts: Counts, on loop: EventLoop) throws -> Serving {
        let group = try TCPServerGroup.listen(
            host: options.host, port: port, loops: loops,
            options: ListenOptions(backlog: backlog, limits: limits.streamLimits),
            accepting: acceptLimits, on: loop
        ) { connection in try echo(connection, counts).always { counts.sent(connection.bytesSent) } }
        _ = try loop.run(until: group.onEach(on: loop) { $0.onConnectionError = { _ in counts.failed() } })
        report(group, on: loop)
        let ended = group.drain(on: .interrupt, .terminate, within: .seconds(options.grace), for: loop)
        return ([group.localAddress], ended)
    }

    /// Prints what each of the servers has done, whenever SIGUSR1 comes.
    private func report(_ group: TCPServerGroup, on loop: EventLoop) {
        Future<Void>(on: loop) {
            for try await _ in loop.signals(.user1) {
                for statistics in try await group.onEach(on: loop, { $0.statistics }).value {
                    say("server: \(statistics)")
                }
            }
        }.ignoreFailure()
    }
}
