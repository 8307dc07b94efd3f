import FoundationEssentials
import Testing
import UVFutures

struct SocketListenerTests {
    @Test(
        "connections are accepted one by one, in the order in which they came",
        arguments: TestNetwork.allCases)
    func accepts(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let clients = try (0..<5).map { _ in try loop.connect(to: listener.localAddress) }
            for client in clients {
                let accepted = try loop.run(until: listener.accept())
                #expect(accepted.peerAddress == client.localAddress)
                loop.closeAll(accepted, client)
            }
        }
    }

    @Test("several may wait for a connection at a time", arguments: TestNetwork.allCases)
    func acceptsSeveral(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepts = (0..<3).map { _ in listener.accept() }
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            let accepted = try loop.run(until: Future.all(accepts))
            #expect(accepted.map(\.peerAddress) == clients.map(\.localAddress))
            loop.closeAll(accepted + clients)
        }
    }

    @Test("a cancelled accept takes no connection from the next one", arguments: TestNetwork.allCases)
    func cancelledAccept(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let first = listener.accept()
            let second = listener.accept()
            #expect(first.cancel())
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: second)
            #expect(accepted.peerAddress == client.localAddress)
            loop.closeAll(client, accepted)
        }
    }

    @Test(
        "closing cancels what waits for a connection, and what comes later", arguments: TestNetwork.allCases)
    func closing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepts = [listener.accept(), listener.accept()]
            let closed = listener.close()
            listener.close()
            for accept in accepts { #expect(throws: CancellationError.self) { try accept.result?.get() } }
            #expect(throws: CancellationError.self) { try listener.accept().result?.get() }
            try loop.run(until: closed)
            try loop.run(until: listener.close())
            let (host, port) = (listener.localAddress.host, listener.localAddress.port)
            let late = loop.failure(of: TCPConnection.connect(host: host, port: port, on: loop))
            #expect((late as? SystemError)?.code == .connectionRefused)
        }
    }

    @Test("closing ends connections that nobody has accepted", arguments: TestNetwork.allCases)
    func closingUnaccepted(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            try loop.run(until: listener.close())
            for client in clients {
                // A reset, or the end if libuv had taken it from the system.
                let outcome = loop.outcome(of: client.read())
                #expect((try? outcome.get())?.isEmpty != false)
                _ = loop.outcome(of: client.close())
            }
        }
    }

    @Test(
        "a listener that nobody holds is closed, but not while an accept is pending",
        arguments: TestNetwork.allCases)
    func dropped(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var accept: Future<TCPConnection>?
            let address: SocketAddress
            do {
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                address = listener.localAddress
                accept = listener.accept()
            }
            let client = try loop.connect(to: address)
            let accepted = try loop.run(until: accept!)
            accept = nil
            loop.closeAll(client, accepted)
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test(
        "the connections of a listener come to a for loop until it is closed", arguments: TestNetwork.allCases
    )
    func connections(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let served = Future(on: loop) {
                var peers: [SocketAddress?] = []
                for try await connection in listener.connections {
                    peers.append(connection.peerAddress)
                    connection.close()
                }
                return peers
            }
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            for client in clients { #expect(try loop.run(until: client.read()).count == 0) }
            try loop.run(until: listener.close())
            let peers = try loop.run(until: served)
            #expect(peers == clients.map(\.localAddress))
            for client in clients { loop.closeAll(client) }
        }
    }

    @Test(
        "a connection that nobody asked for any more waits for the next who asks",
        arguments: TestNetwork.allCases)
    func losesNothing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let cancelled = Future(on: loop) {
                for try await _ in listener.connections { Issue.record("there was none") }
            }
            try loop.run(until: loop.submit {})
            #expect(cancelled.cancel())
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: listener.connections.first())
            #expect(accepted?.peerAddress == client.localAddress)
            loop.closeAll(client, accepted!)
            try loop.run(until: listener.close())
            let none = try loop.run(until: listener.connections.first())
            #expect(none == nil)
        }
    }

    @Test(
        "iterations and accepts get connections in the order in which they asked",
        arguments: TestNetwork.allCases)
    func order(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let first = Future(on: loop) {
                var iterator = listener.connections.makeAsyncIterator()
                return [try await iterator.next()!, try await iterator.next()!]
            }
            try loop.run(until: loop.submit {})
            let second = listener.accept()
            let third = Future(on: loop) {
                for try await connection in listener.connections { return connection }
                throw CancellationError()
            }
            try loop.run(until: loop.submit {})
            let clients = try (0..<4).map { _ in try loop.connect(to: listener.localAddress) }
            let firsts = try loop.run(until: first)
            let accepted = try loop.run(until: Future.all([second, third]))
            let inOrder = [firsts[0]] + accepted + [firsts[1]]
            #expect(inOrder.map(\.peerAddress) == clients.map(\.localAddress))
            loop.closeAll(inOrder + clients)
            try loop.run(until: listener.close())
        }
    }

    @Test(
        "a cancelled iteration that waits takes no connection, while another one waits",
        arguments: TestNetwork.allCases)
    func cancelledIteration(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let cancelled = Future(on: loop) {
                for try await _ in listener.connections { Issue.record("there was none") }
            }
            try loop.run(until: loop.submit {})
            let next = listener.accept()
            #expect(cancelled.cancel())
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: next)
            #expect(accepted.peerAddress == client.localAddress)
            loop.closeAll(client, accepted)
            try loop.run(until: listener.close())
        }
    }

    @Test(
        "an actor's task gets connections, and the end when the listener is closed",
        arguments: TestNetwork.allCases)
    func actorsTask(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            var count = 0
            let end = listener.connections.iterate(byActor: true) { connection in
                count += 1
                connection.close()
            }
            let clients = try (0..<2).map { _ in try loop.connect(to: listener.localAddress) }
            for client in clients { #expect(try loop.run(until: client.read()).isEmpty) }
            listener.close()
            try loop.run(until: end)
            #expect(count == 2)
            for client in clients { loop.closeAll(client) }
            try loop.run(until: listener.close())
        }
    }

    @Test("shutdown ends the wait for a connection", arguments: TestNetwork.allCases)
    func shutdown(network: TestNetwork) throws {
        var error: (any Error)?
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            Future(on: loop) {
                do { for try await _ in listener.connections {} } catch let caught { error = caught }
            }.ignoreFailure()
            try loop.run(until: loop.submit {})
        }
        #expect(error as? FutureError == .shutDown)
    }

    @Test(
        "an echo server of a for loop over connections and one over chunks", arguments: TestNetwork.allCases)
    func echo(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let served = Future(on: loop) {
                for try await connection in listener.connections {
                    for try await chunk in connection.chunks { try await connection.write(chunk).value }
                    try await connection.close().value
                }
            }
            let client = try loop.connect(to: listener.localAddress)
            client.write(Data("hello".utf8))
            client.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd()) == Data("hello".utf8))
            loop.closeAll(client)
            try loop.run(until: listener.close())
            try loop.run(until: served)
        }
    }
}
