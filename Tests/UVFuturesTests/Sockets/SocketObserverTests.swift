import Glibc
import TestSupport
import Testing
import UVFutures

struct SocketObserverTests {
    @Test(
        "the observer hears of connections and listeners as they open and close, and of what broke them",
        arguments: TestNetwork.allCases)
    func opensAndCloses(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let told = Told(by: loop)
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let address = listener.localAddress
            #expect(told.lines == ["opened listener \(address)"])
            let client = try loop.connect(to: address)
            let server = try loop.run(until: listener.accept())
            let names = (client.description, server.description)
            #expect(Set(told.lines.dropFirst()) == ["opened \(names.0)", "opened \(names.1)"])
            client.abort()
            _ = loop.failure(ofEnd: server)
            #expect(told.lines.contains("closed \(names.0)"))
            #expect(told.lines.contains { $0.hasPrefix("closed \(names.1): read ECONNRESET") })
            #expect(!told.lines.contains("closed listener \(address)"))
            try loop.run(until: listener.close())
            listener.close()
            #expect(
                told.lines.filter { $0.contains("listener") }.dropFirst() == ["closed listener \(address)"])
        }
    }

    @Test("a server tells of each of its sockets, of whatever kind; one that is given up has ended here")
    func sockets() throws {
        try withLoop { loop in
            let told = Told(by: loop)
            let server = SocketServer<SocketConnection>(on: loop, owning: { _ in })
            let tcp = try server.listen(host: "127.0.0.1", port: 0)
            let unix = try server.listen(path: "@observed-\(getpid())")
            #expect(told.lines == ["opened listener \(tcp)", "opened listener \(unix)"])
            for descriptor in server.releaseSockets() { close(descriptor) }
            try loop.run(until: server.close())
            #expect(Set(told.lines.dropFirst(2)) == ["closed listener \(tcp)", "closed listener \(unix)"])
            #expect(told.lines.count == 4)
        }
    }

    @Test("a listener that ceases to listen has been broken, and so has one whose loop is shut down")
    func broken() throws {
        try withLoop { loop in
            let told = Told(by: loop)
            let made = PlainSocket.bound(backlog: 1)
            let listener = try TCPListener(adopting: dup(made.descriptor), on: loop)
            let accepting = listener.accept()
            made.shutdown()
            _ = loop.failure(of: accepting)
            let other = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            loop.shutdown()
            #expect(
                Set(told.lines.filter { $0.hasPrefix("closed") }) == [
                    "closed listener 127.0.0.1:\(made.port): accept EINVAL 127.0.0.1:\(made.port): invalid argument",
                    "closed listener \(other.localAddress): \(FutureError.shutDown)",
                ])
        }
    }

    @Test(
        "a connection that nobody holds any more has been broken, unless all of its peer had been read",
        arguments: [false, true], TestNetwork.allCases)
    func dropped(isReadToEnd: Bool, network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            let told = Told(by: loop)
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            var client: TCPConnection? = try loop.connect(to: listener.localAddress)
            let server = try loop.run(until: listener.accept())
            let name = client!.description
            if isReadToEnd {
                server.shutdownWrite()
                #expect(try loop.run(until: client!.read()).isEmpty)
            }
            client = nil
            try loop.runUntil { told.lines.contains { $0.hasPrefix("closed \(name)") } }
            #expect(
                told.lines.filter { $0.hasPrefix("closed \(name)") }
                    == ["closed \(name)" + (isReadToEnd ? "" : ": \(StreamError.droppedUnclosed)")])
            server.abort()
            try loop.run(until: listener.close())
        }
    }

    @Test("a server that is full is a warning, once a minute", arguments: TestNetwork.allCases)
    func full(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let told = Told(by: loop)
            let limits = AcceptLimits(maxConnections: 2, lowWaterMark: 1)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop) {
                connection in connection.forEachChunk { _ in }
            }
            var clients = (0..<4).map { _ in Peer(network, port: server.localAddress.port, on: loop) }
            try loop.runUntil { server.statistics.pauses == 1 }
            clients.removeFirst(2)
            try loop.runUntil { server.statistics.pauses == 2 }
            #expect(
                told.warnings == [
                    "a server has 2 connections open, as many as maxConnections allows; others wait in the backlog of "
                        + "\(server.localAddress) until 1 are left. Reported at most once a minute."
                ])
            withExtendedLifetime(clients) {}
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }
}

/// What the observer of a loop has been told, without the turns.
final class Told {
    private(set) var lines: [String] = []
    private(set) var warnings: [String] = []

    init(by loop: EventLoop) {
        loop.observe { event in
            switch event {
            case .opened(let what): self.lines.append("opened \(what)")
            case .closed(let what, nil): self.lines.append("closed \(what)")
            case .closed(let what, let failure?): self.lines.append("closed \(what): \(failure)")
            // On a busy machine any turn may be slow.
            case .warning(let text) where !text.hasPrefix("a turn took "): self.warnings.append(text)
            case .warning, .turnEnded, .unhandledFailure: break
            }
        }
    }
}
