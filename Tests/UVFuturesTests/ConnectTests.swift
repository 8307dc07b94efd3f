import Glibc
import Testing
import UVFutures

struct ConnectTests {
    @Test("a connection that nobody accepts is refused, with the operation and both addresses")
    func refused() throws {
        try withLoop { loop in
            let port = PlainSocket.bound()
            let error = loop.failure(of: TCPConnection.connect(host: "127.0.0.1", port: port.port, on: loop))
            #expect((error as? UVError)?.code == .connectionRefused)
            #expect("\(error!)" == "connect ECONNREFUSED 127.0.0.1:\(port.port): connection refused")
            try loop.run()
        }
    }

    @Test("connecting gives up when the time is up", arguments: [0, 30])
    func timesOut(milliseconds: Int) throws {
        try withLoop { loop in
            let (listener, _) = hangingListener()
            let start = loop.instant
            let connecting = TCPConnection.connect(
                host: "127.0.0.1", port: listener.port, timeout: .milliseconds(milliseconds), on: loop)
            let error = loop.failure(of: connecting)
            #expect("\(error!)" == "connect ETIMEDOUT 127.0.0.1:\(listener.port): connection timed out")
            #expect(start.duration(to: loop.instant) >= .milliseconds(milliseconds))
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("cancelling gives up at once")
    func cancelled() throws {
        try withLoop { loop in
            let (listener, _) = hangingListener()
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            #expect(!connecting.isCompleted)
            #expect(connecting.cancel())
            #expect(throws: CancellationError.self) { try connecting.result?.get() }
            try loop.run()
            #expect(loop.statistics.handles == 0)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("the timeout combinator closes the socket as well")
    func combinator() throws {
        try withLoop { loop in
            let (listener, _) = hangingListener()
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
                .timeout(after: .milliseconds(1))
            #expect(loop.failure(of: connecting) as? FutureError == .timedOut(after: .milliseconds(1)))
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("ten thousand cancelled attempts leave no descriptor")
    func leavesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let (listener, _) = hangingListener()
                TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop).cancel()
                try loop.run()
                let before = openSockets()
                for _ in 0..<100 {
                    let attempts = (0..<100).map { _ in
                        TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
                    }
                    try loop.run(until: loop.sleep(for: .zero))
                    for attempt in attempts { #expect(attempt.cancel(), "\(attempt)") }
                }
                try loop.run()
                #expect(openSockets() == before)
            }
        }
    }

    @Test("localhost is either loopback address, the second if nobody listens on the first")
    func localhost() throws {
        try withLoop { loop in
            for host in loopbackHosts {
                let server = try TCPServer.listen(host: host, port: 0, on: loop) { $0.forEachChunk { _ in } }
                let port = server.localAddress.port
                let client = try loop.run(
                    until: TCPConnection.connect(host: "localhost", port: port, on: loop))
                #expect(client.peerAddress == server.localAddress)
                try loop.closeAll(client)
                server.close()
            }
            let port = PlainSocket.bound()
            let error = loop.failure(of: TCPConnection.connect(host: "localhost", port: port.port, on: loop))
            #expect("\(error!)" == "connect ECONNREFUSED 127.0.0.1:\(port.port): connection refused")
        }
    }

    @Test("both ends know both addresses, and each connection has a number of its own")
    func addresses() throws {
        try withLoop { loop in
            let (client, server) = try loop.connectedPair()
            #expect(client.localAddress == server.peerAddress)
            #expect(client.peerAddress == server.localAddress)
            #expect(client.localAddress?.host == "127.0.0.1")
            #expect(client.id != server.id)
            #expect("\(client)".contains("\(client.peerAddress!)"))
            #expect(loop.statistics.connections == 2)
            try loop.closeAll(client, server)
            #expect(loop.statistics.connections == 0)
        }
    }

    @Test("a host that is a name is refused, with what to give instead")
    func name() throws {
        try withLoop { loop in
            let error = loop.failure(of: TCPConnection.connect(host: "example.com", port: 80, on: loop))
            #expect("\(error!)".contains("\"example.com\""))
            #expect("\(error!)".contains("localhost"))
        }
    }

    @Test("arguments out of range are refused")
    func arguments() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            limits.writeCap = -1
            let refused = [
                TCPConnection.connect(host: "127.0.0.1", port: -1, on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 65_536, on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 1, timeout: .seconds(-1), on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 1, limits: limits, on: loop),
            ]
            for future in refused {
                guard case .invalidArgument = loop.failure(of: future) as? FutureError else {
                    Issue.record("\(future)")
                    continue
                }
            }
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("a connection that nobody keeps is aborted")
    func dropped() throws {
        try withLoop(ignoringUnhandled: true) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            _ = TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
            let server = try loop.run(until: listener.accept())
            #expect((loop.failure(of: server.read()) as? UVError)?.code == .connectionReset)
            #expect(loop.statistics.connections == 0)
        }
    }
}

/// A listener with a backlog of nothing, which one client that waits fills: others get no answer.
func hangingListener() -> (PlainSocket, PlainSocket) {
    let listener = PlainSocket.bound(backlog: 0)
    return (listener, PlainSocket.connected(to: listener.port))
}
