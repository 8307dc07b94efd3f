import TestSupport
import Testing
import UVFutures

struct AcceptorTests {
    @Test(
        "without descriptors a server waits, at no cost, says so once, and goes on when there is one",
        arguments: TestNetwork.allCases)
    func descriptors(network: TestNetwork) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [network] in
            let crowd = Crowd(network, clients: 500, limit: 64)
            try withLoop(network) { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
                var counted: [Int] = []
                loop.observe {
                    if case .warning(let text) = $0, text.contains("EMFILE") {
                        counted.append(server.statistics.shortages)
                    }
                }
                crowd.connect(to: server.localAddress.port, on: loop)
                try loop.runUntil { server.statistics.shortages > 0 }
                let served = server.activeConnections
                #expect(served > 20)
                #expect(served < 64)

                let seconds = isSoaking ? 5 : 1
                let before = cpuTime()
                try loop.run(for: .seconds(seconds))
                let used = cpuTime() - before
                #expect(used < .milliseconds(seconds * 50), "\(used) of \(seconds) s")
                #expect(server.activeConnections == served)
                #expect(server.statistics.shortages > 1)
                #expect(counted == [1], "the observer may ask for figures, and is told once a minute")

                // One of the server's own, and then one that it knows nothing of.
                let ways = [{ crowd.clients[0].shutdown() }, { crowd.giveBackSpare(on: loop) }]
                for (number, way) in ways.enumerated() {
                    let next = crowd.clients[served + number]
                    #expect(next.send([7]))
                    #expect(next.receive() == nil)
                    let start = loop.now
                    way()
                    try loop.runUntil { next.receive() == [7] }
                    #expect(start.duration(to: loop.now) < .seconds(10))
                }
                // Nobody was turned away.
                for client in crowd.clients.dropFirst(served + ways.count) {
                    #expect(client.receive() == nil)
                }
                server.onConnectionError = { _ in }
                _ = try loop.run(until: server.shutdown(within: .zero))
                crowd.leave()
            }
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            .split(separator: "\n").filter { $0.contains("EMFILE") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("accept EMFILE 127.0.0.1:") == true)
        let advice =
            " connections are open, the others wait in the system, and are accepted as soon as possible. "
            + "Raise the limit of the process (ulimit -n, LimitNOFILE=), or lower maxConnections. "
            + "Reported at most once a minute."
        #expect(lines.first?.hasSuffix(advice) == true)
    }

    @Test(
        "a storm of connections is accepted over several rounds, all of them", arguments: TestNetwork.allCases
    )
    func storm(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let (host, port) = (listener.localAddress.host, listener.localAddress.port)
            let clients = try loop.run(
                until: Future.all(
                    (0..<300).map { _ in TCPConnection.connect(host: host, port: port, on: loop) }))
            let accepted = try loop.run(until: Future.all((0..<300).map { _ in listener.accept() }))
            #expect(Set(accepted.map(\.peerAddress)) == Set(clients.map(\.localAddress)))
            for connection in accepted + clients { connection.abort() }
            try loop.run(until: listener.close())
        }
    }
}
