import FoundationEssentials
import Testing
import UVFutures

struct SocketConnectionTests {
    @Test(
        "a close without any time lets go of a connection whose end the system has not told yet",
        arguments: TestNetwork.allCases)
    func closedAtOnce(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let shutdown = client.shutdownWrite()
            try loop.run(until: client.close(within: .zero))
            #expect(shutdown.isCompleted)
            #expect(try loop.run(until: server.readToEnd()) == Data())
            try loop.run(until: server.close())
        }
    }

    @Test("a handler hears that it is to end, and may do so by itself", arguments: TestNetwork.allCases)
    func draining(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var heard: [Result<Void, any Error>] = []
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.endsWhenIdle = false
                connection.draining.whenComplete { heard.append($0) }
                connection.draining.whenSuccess {
                    #expect(connection.isDraining)
                    connection.write("bye")
                    connection.close()
                }
                return connection.forEachChunk { chunk in connection.write(chunk) }
            }
            let (first, second) = (
                try loop.connect(to: server.localAddress), try loop.connect(to: server.localAddress)
            )
            for client in [first, second] { #expect(try loop.ask(client, "a") == "a") }
            loop.closeAll(first)
            try loop.runUntil { heard.count == 1 }
            #expect(throws: CancellationError.self) { try heard[0].get() }
            let drained = server.drain(within: .seconds(60))
            #expect(try loop.run(until: second.readToEnd(limit: 10)) == Data("bye".utf8))
            loop.closeAll(second)
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 1, aborted: 0))
            #expect(heard.count == 2)
            try heard[1].get()
        }
    }

    @Test(
        "both ends know both addresses, and each connection has a number of its own",
        arguments: TestNetwork.allCases)
    func addresses(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            #expect(client.localAddress == server.peerAddress)
            #expect(client.peerAddress == server.localAddress)
            #expect(client.localAddress?.host == "127.0.0.1")
            #expect(client.id != server.id)
            #expect("\(client)".contains("\(client.peerAddress!)"))
            #expect(loop.statistics.connections == 2)
            loop.closeAll(client, server)
            #expect(loop.statistics.connections == 0)
        }
    }
}
