import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

/// What a kernel does when connections are reset or refused, and a simulated network, too.
struct ResetTests: UsesUnixSockets {
    enum Network: CaseIterable { case kernel, simulated }

    /// Runs `body` with a loop, which has this network, and the path of a socket.
    private func with(_ network: Network, _ body: (EventLoop, String) throws -> Void) throws {
        try withDirectory { directory, loop in
            if network == .kernel { return try body(loop, "\(directory)/socket") }
            let virtual = EventLoop.virtual()
            virtual.onUnhandledFailure = { _ in }
            defer { virtual.shutdown() }
            virtual.simulatedDisk.makeDirectory(directory)
            try body(virtual, "\(directory)/socket")
        }
    }

    private func unixPair(_ path: String, _ loop: EventLoop) throws -> (UnixConnection, UnixConnection) {
        let listener = try UnixListener(path: path, on: loop)
        let pair = try loop.run(
            until: UnixConnection.connect(path: path, on: loop).and(listener.accept()))
        try loop.run(until: listener.close())
        return pair
    }

    @Test("the error of a refused connection has no local address", arguments: Network.allCases)
    func refused(_ network: Network) throws {
        try with(network) { loop, _ in
            let bound = PlainSocket.bound()
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: bound.port, on: loop)
            let error = loop.failure(of: connecting) as? SystemError
            #expect(error?.code == .connectionRefused)
            #expect(error?.localAddress == nil)
            #expect(error?.peerAddress?.port == bound.port)
        }
    }

    @Test("a connection that is dropped soon after it was made is reset", arguments: Network.allCases)
    func dropped(_ network: Network) throws {
        try with(network) { loop, _ in
            loop.onUnhandledFailure = { _ in }
            var pair = Optional(try loop.connectedPair())
            let server = pair!.1
            let start = loop.now
            pair = nil
            #expect((loop.failure(ofEnd: server) as? SystemError)?.code == .connectionReset)
            if network == .simulated { #expect(start.duration(to: loop.now) < .milliseconds(10)) }
        }
    }

    @Test("a connection that was reset before it is accepted says so then", arguments: Network.allCases)
    func resetBeforeAccept(_ network: Network) throws {
        try with(network) { loop, _ in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let client = try loop.connect(to: listener.localAddress)
            try loop.run(until: client.abort())
            let server = try loop.run(until: listener.accept())
            #expect((loop.failure(ofEnd: server) as? SystemError)?.code == .connectionReset)
            try loop.run(until: listener.close())
        }
    }

    @Test("an abort does not reset a connection that both sides have ended", arguments: Network.allCases)
    func abortAfterTheEnd(_ network: Network) throws {
        try with(network) { loop, _ in
            let (client, server) = try loop.connectedPair()
            client.shutdownWrite()
            #expect(try loop.run(until: server.readToEnd()).isEmpty)
            server.write("x")
            server.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd()) == Data("x".utf8))
            try loop.run(until: client.abort())
            try loop.run(for: .milliseconds(1))
            #expect(!server.closed.isCompleted)
            try loop.run(until: server.close())
        }
    }

    @Test("a UNIX socket takes 150 KB, and not 300 KB, while nobody reads", arguments: Network.allCases)
    func unixRoom(_ network: Network) throws {
        try with(network) { loop, path in
            let (client, server) = try unixPair(path, loop)
            let write = client.write(Data(count: 150_000))
            #expect(write.isCompleted)
            let other = client.write(Data(count: 150_000))
            try loop.run(for: .milliseconds(1))
            #expect(!other.isCompleted)
            #expect(try loop.run(until: server.read(exactly: 300_000))?.count == 300_000)
            try loop.run(until: other)
            loop.closeAll(client, server)
        }
    }

    @Test("a read learns of a reset before a write that waits", arguments: Network.allCases)
    func readBeforeWrite(_ network: Network) throws {
        try with(network) { loop, path in
            try expectReset {
                let (client, server) = try unixPair(path, loop)
                let write = client.write(Data(count: 1_000_000))
                let read = client.read()
                try loop.run(for: .milliseconds(1))
                server.abort()
                return [loop.failure(of: read), loop.failure(of: write)]
            }
        }
    }

    /// What a peer has done before it resets a connection to which a write waits.
    struct Before: CustomStringConvertible {
        let sends, ends, isRead: Bool
        var description: String {
            "\(sends ? "sent a byte" : "sent nothing"), \(ends ? "ended" : "did not end"), \(isRead ? "read" : "unread")"
        }
        static let all = (0..<8).map { Before(sends: $0 & 1 > 0, ends: $0 & 2 > 0, isRead: $0 & 4 > 0) }
    }

    @Test(
        "a write that waits is told of a reset as a broken pipe once the end has come, read or not",
        arguments: Network.allCases, Before.all)
    func waitingWrite(_ network: Network, before: Before) throws {
        try with(network) { loop, _ in
            let (client, server) = try loop.connectedPair()
            let write = client.write(Data(count: 20_000_000))
            if before.sends { server.write("x") }
            if before.ends { try loop.run(until: server.shutdownWrite()) }
            let read = before.isRead ? client.readToEnd() : nil
            try loop.run(for: .milliseconds(5))
            server.abort()
            let error = loop.failure(of: write) as? SystemError
            #expect(error?.code == (before.ends ? .brokenPipe : .connectionReset))
            #expect(error?.operation == (before.isRead && !before.ends ? "read" : "write"))
            read?.ignoreFailure()
        }
    }

    @Test(
        "a UNIX connection that both sides have ended is reset all the same", arguments: Network.allCases)
    func unixResetAfterTheEnd(_ network: Network) throws {
        try with(network) { loop, path in
            try expectReset {
                let (client, server) = try unixPair(path, loop)
                client.write("unread")
                server.write("x")
                _ = try loop.run(until: server.shutdownWrite().and(client.shutdownWrite()))
                try loop.run(for: .milliseconds(1))
                try loop.run(until: server.abort())
                let end = loop.failure(ofEnd: client)
                #expect(try loop.run(until: client.read()) == Data("x".utf8))
                return [end, loop.failure(of: client.read())]
            }
        }
    }

    /// Expects each error to be the reset that a read of a UNIX connection finds. A child process that another test starts has
    /// a copy of the peer's socket for a moment, and meanwhile an abort only ends the connection.
    private func expectReset(_ errors: () throws -> [(any Error)?]) throws {
        var seen: [SystemError?] = []
        for _ in 0..<5 {
            seen = try errors().map { $0 as? SystemError }
            if seen.allSatisfy({ $0?.code == .connectionReset && $0?.operation == "read" }) { return }
        }
        Issue.record("\(seen)")
    }
}
