import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct SocketTimeLimitTests {
    @Test(
        "a time limit that passes ends a connection of TCP or the UNIX domain, never early, and is counted by name",
        arguments: StreamTimeLimit.allCases, bothKinds)
    func passes(_ limit: StreamTimeLimit, place: (isUnix: Bool, network: TestNetwork)) throws {
        let isUnix = place.isUnix
        try withLoop(place.network) { loop in
            // The first bytes have to come in the time of the handshake, however slow the machine.
            let time = Duration.milliseconds(limit == .handshake ? 1_000 : 50)
            var connections: [SocketConnection] = []
            let server = SocketServer<SocketConnection>(on: loop, owning: { connections.append($0) })
            let name = "@uv-time-\(getpid())-\(limit.name)"
            if isUnix {
                try server.listen(path: name, options: ListenOptions(limits: .only(limit, time)))
            } else {
                try server.listen(
                    host: "127.0.0.1", port: 0, options: ListenOptions(limits: .only(limit, time)))
            }
            let start = loop.now
            let client: ByteStream =
                isUnix
                ? try loop.run(until: UnixConnection.connect(path: name, on: loop))
                : try loop.connect(to: server.localAddress)
            try loop.runUntil { !connections.isEmpty }
            let connection = connections.removeFirst()

            let (pending, unread) = connection.wait(for: limit)
            if unread > 0 { client.write(Data(count: unread)) }
            let failure = loop.failure(of: pending)
            #expect(start.duration(to: loop.now) >= time)
            guard case .timedOut(limit, after: time, unread: unread, let unsent) = failure as? StreamError
            else {
                Issue.record("\(failure.map { "\($0)" } ?? "no failure")")
                client.abort()
                return
            }
            #expect((unsent > 0) == (limit == .write))
            // The peer is told: by the end, or by a reset.
            let rest = loop.outcome(of: client.readToEnd())
            if limit == .idle || limit == .lifetime { #expect(try rest.get().isEmpty) }
            _ = loop.outcome(of: client.close())
            #expect(loop.failure(ofEnd: connection) as? StreamError == failure as? StreamError)
            #expect(server.statistics.closes == [.timedOut(limit): 1])
            try loop.run(until: server.close())
        }
    }

    @Test(
        "what came while the loop was held up is read before a limit is judged",
        arguments: StreamTimeLimit.allCases.filter { $0 != .lifetime }, TestNetwork.allCases)
    func heldUp(_ limit: StreamTimeLimit, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let time = 500
            let listener = try TCPListener(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: .only(limit, .milliseconds(time))),
                on: loop)
            let client = Peer(network, port: listener.localAddress.port, on: loop)
            let server = try loop.run(until: listener.accept())
            let received = server.read(exactly: 2)
            if limit == .framing { #expect(client.send(Array("a".utf8))) }
            if limit == .write { server.write(Data(count: 20_000_000)).ignoreFailure() }
            try loop.run(for: .milliseconds(2))

            // For longer than the limit, at the start of which the peer does something.
            let (held, other) = try loop.connectedPair()
            other.write("x")
            try loop.run(
                until: held.read().map { _ in
                    if limit == .write {
                        for _ in 0..<200 { _ = client.receive() }
                    } else {
                        #expect(client.send(Array("bc".utf8)))
                    }
                    network.holdUp(loop, for: .milliseconds(time * 6 / 5))
                })
            try loop.run(for: .milliseconds(2))
            #expect(server.isOpen)
            #expect(received.isCompleted == (limit != .write))
            received.ignoreFailure()
            for end in [server, held, other] { _ = loop.outcome(of: end.abort()) }
            try loop.run(until: listener.close())
        }
    }
}

extension StreamLimits {
    /// No limit of time but one.
    fileprivate static func only(_ limit: StreamTimeLimit, _ time: Duration) -> StreamLimits {
        var limits = StreamLimits()
        (limits.framingTimeout, limits.writeTimeout) = (nil, nil)
        limits.closeTimeout = .milliseconds(50)
        limits[limit] = time
        return limits
    }
}

extension SocketConnection {
    /// What `limit` is about: what then waits for the peer, and how many bytes the peer has to send for it.
    fileprivate func wait(for limit: StreamTimeLimit) -> (Future<Void>, unread: Int) {
        switch limit {
        case .handshake, .framing: (readLine().map { _ in }, 2)
        case .read: (read().map { _ in }, 0)
        case .write: (write(Data(count: 8 << 20)), 0)
        case .idle, .lifetime: (closed, 0)
        }
    }
}
