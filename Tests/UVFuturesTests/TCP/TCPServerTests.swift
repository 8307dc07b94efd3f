import FoundationEssentials
import Testing
import UVFutures

struct TCPServerTests {
    @Test("a server gives back what its handler writes", arguments: TestNetwork.allCases)
    func echoes(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            let client = try loop.connect(to: server.localAddress)
            client.write("hello")
            client.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd(limit: 100)) == Data("hello".utf8))
            loop.closeAll(client)
            #expect(server.activeConnections == 0)
            server.close()
        }
    }

    @Test(
        "when the handler's future completes, the connection is closed, after what was written",
        arguments: TestNetwork.allCases)
    func closesWhenHandled(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let answer = pattern(3_000_000)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.write(answer)
                return loop.succeeded("done")
            }
            let client = try loop.connect(to: server.localAddress)
            #expect(try loop.run(until: client.readToEnd(limit: 5_000_000)) == answer)
            loop.closeAll(client)
            server.close()
        }
    }

    @Test("until the handler's future completes, the connection stays open", arguments: TestNetwork.allCases)
    func staysOpen(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let promise = loop.makePromise(of: Void.self)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { _ in promise.future }
            let client = try loop.connect(to: server.localAddress)
            let read = client.read()
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            #expect(!read.isCompleted)
            #expect(server.activeConnections == 1)
            promise.succeed()
            #expect(try loop.run(until: read).isEmpty)
            loop.closeAll(client)
            server.close()
        }
    }

    @Test(
        "a handler that fails has its connection aborted, and is reported once", arguments: [true, false],
        TestNetwork.allCases)
    func reportsFailure(byThrowing: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                if byThrowing { throw Mistake() }
                return connection.read().map { _ in throw Mistake() }
            }
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = Peer(network, port: server.localAddress.port, on: loop)
            #expect(client.send([1]))
            while reported.isEmpty { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            #expect(reported.first is Mistake)
            try loop.run(until: server.shutdown(within: .seconds(60)).map { _ in })
            #expect(reported.count == 1)
            try loop.run(for: .milliseconds(1))
            #expect(!client.send([1]))
        }
    }

    @Test("without onConnectionError, the loop hears of it", arguments: TestNetwork.allCases)
    func unhandled(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var unhandled: [any Error] = []
            loop.onUnhandledFailure = { unhandled.append($0) }
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, on: loop, owning: { _ in throw Mistake() })
            let client = Peer(network, port: server.localAddress.port, on: loop)
            while unhandled.isEmpty { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            try loop.run(until: server.shutdown(within: .seconds(60)).map { _ in })
            #expect(unhandled.count == 1)
            #expect(unhandled.first is Mistake)
            try loop.run(for: .milliseconds(1))
            #expect(!client.send([1]))
        }
    }

    @Test(
        "a reset reaches the handler's future, and is reported from there, once",
        arguments: TestNetwork.allCases)
    func reset(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: server.localAddress)
            client.write("x")
            _ = try loop.run(until: client.read())
            client.abort()
            try loop.run(until: server.shutdown(within: .seconds(5)).map { _ in })
            #expect(reported.count == 1)
            #expect((reported.first as? SystemError)?.code == .connectionReset)
        }
    }

    @Test(
        "what cannot be sent in time after the handler has succeeded is reported, once",
        arguments: TestNetwork.allCases)
    func reportsUnsent(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.closeTimeout = .milliseconds(10)
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop
            ) {
                connection in
                connection.write(pattern(32_000_000))
                return loop.succeeded()
            }
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = Peer(network, port: server.localAddress.port, on: loop)
            try loop.runUntil { !reported.isEmpty }
            try loop.run(until: server.shutdown(within: .seconds(5)).map { _ in })
            #expect(reported.count == 1)
            guard case StreamError.flushTimedOut? = reported.first else {
                Issue.record("\(reported)")
                return
            }
            withExtendedLifetime(client) {}
        }
    }

    @Test(
        "what broke the connection of a handler that succeeds nevertheless is reported, once",
        arguments: TestNetwork.allCases)
    func reportsBreakage(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.closed.recover { _ in }
            }
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: server.localAddress)
            try loop.runUntil { server.activeConnections == 1 }
            client.abort()
            try loop.run(until: server.shutdown(within: .seconds(5)).map { _ in })
            #expect(reported.count == 1)
            #expect((reported.first as? SystemError)?.code == .connectionReset)
        }
    }

    @Test(
        "a cancelled handler has its connection aborted, and nothing is reported",
        arguments: TestNetwork.allCases)
    func cancelledHandler(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let promise = loop.makePromise(of: Void.self)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { _ in promise.future }
            server.onConnectionError = { Issue.record($0) }
            let client = try loop.connect(to: server.localAddress)
            let read = client.read()
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            promise.cancel()
            #expect((loop.failure(of: read) as? SystemError)?.code == .connectionReset)
            server.close()
        }
    }

    @Test(
        "a handler without a result owns the connection until it closes it", arguments: TestNetwork.allCases)
    func ownsConnection(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var finish: (() -> Void)?
            let owning = { (connection: TCPConnection) in
                finish = { [unowned connection] in
                    connection.write("bye")
                    connection.close()
                }
            }
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: owning)
            let client = try loop.connect(to: server.localAddress)
            let everything = client.readToEnd(limit: 10)
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            #expect(server.activeConnections == 1)
            finish?()
            #expect(try loop.run(until: everything) == Data("bye".utf8))
            loop.closeAll(client)
            #expect(server.activeConnections == 0)
            server.close()
        }
    }

    @Test("a server serves on though nobody holds it", arguments: TestNetwork.allCases)
    func nobodyHoldsIt(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let address = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo).localAddress
            for _ in 0..<3 {
                let client = try loop.connect(to: address)
                client.write("hello")
                #expect(try loop.run(until: client.read(exactly: 5)) == Data("hello".utf8))
                loop.closeAll(client)
            }
        }
    }
}

private struct Mistake: Error {}
