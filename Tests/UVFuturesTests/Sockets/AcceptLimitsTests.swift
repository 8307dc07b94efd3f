import Glibc
import TestSupport
import Testing
import UVFutures

struct AcceptLimitsTests {
    @Test(
        "at its limit a server leaves connections in the backlog, and goes on at the low mark",
        arguments: TestNetwork.allCases)
    func limit(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let limits = AcceptLimits(maxConnections: 4, lowWaterMark: 2)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop, echo)
            let port = server.localAddress.port
            // Clients that leave with an answer unread.
            server.onConnectionError = { _ in }
            var clients = (0..<8).map { _ in Peer(network, port: port, on: loop) }
            for client in clients { #expect(client.send([1])) }
            try loop.runUntil { server.statistics.accepted == 4 }
            try loop.run(for: .milliseconds(20))
            #expect(server.statistics.accepted == 4)
            #expect(server.activeConnections == 4)
            #expect(clients[4].receive() == nil, "a connection over the limit was answered, or ended")

            clients.removeFirst()
            try loop.runUntil { server.activeConnections == 3 }
            try loop.run(for: .milliseconds(20))
            #expect(server.statistics.accepted == 4, "it went on above the low mark")
            clients.removeFirst()
            try loop.runUntil { server.statistics.accepted == 6 }
            try loop.run(for: .milliseconds(20))
            #expect(server.activeConnections == 4)
            #expect(server.statistics.pauses == 2)

            // Those that wait keep what they have sent.
            while !clients.isEmpty {
                try loop.runUntil { clients[0].receive() == [1] }
                clients.removeFirst()
            }
            try loop.runUntil { server.activeConnections == 0 }
            #expect(server.statistics.accepted == 8)
            server.close()
        }
    }

    @Test(
        "a full server goes on at seven eighths of its limit if it is given no other mark",
        arguments: TestNetwork.allCases)
    func usualMark(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let limits = AcceptLimits(maxConnections: 16)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop, echo)
            var clients = (0..<17).map { _ in Peer(network, port: server.localAddress.port, on: loop) }
            try loop.runUntil { server.statistics.pauses == 1 }
            clients.removeFirst()
            try loop.runUntil { server.activeConnections == 15 }
            try loop.run(for: .milliseconds(5))
            #expect(server.statistics.accepted == 16)
            clients.removeFirst()
            try loop.runUntil { server.statistics.accepted == 17 }
            withExtendedLifetime(clients) {}
            server.close()
        }
    }

    @Test("a limit that is raised or lowered counts from then on", arguments: [nil, 3], TestNetwork.allCases)
    func changes(raised: Int?, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let limits = AcceptLimits(maxConnections: 1)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop, echo)
            let clients = (0..<3).map { _ in Peer(network, port: server.localAddress.port, on: loop) }
            try loop.runUntil { server.statistics.pauses == 1 }
            try server.setAcceptLimits(AcceptLimits(maxConnections: raised))
            try loop.runUntil { server.activeConnections == 3 }
            try server.setAcceptLimits(AcceptLimits(maxConnections: 2))
            let late = Peer(network, port: server.localAddress.port, on: loop)
            try loop.runUntil { server.statistics.pauses == 2 + (raised == nil ? 0 : 1) }
            #expect(server.activeConnections == 3, "a lower limit ends no connection")
            withExtendedLifetime((clients, late)) {}
            server.close()
        }
    }

    @Test(
        "no more connections are taken in a round than there may be", arguments: [1, 10, 64],
        TestNetwork.allCases)
    func share(perTurn: Int, network: TestNetwork) throws {
        try withLoop(network) { loop in
            loop.core.setTurnShare(.seconds(60))
            // As many as it is without a number.
            let limits = perTurn == 64 ? AcceptLimits() : AcceptLimits(perTurn: perTurn)
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop, echo)
            let clients = (0..<200).map { _ in Peer(network, port: server.localAddress.port, on: loop) }
            var taken: [Int] = []
            func watch() -> Future<Void> {
                taken.append(server.statistics.accepted)
                if taken.last == 200 { return loop.succeeded() }
                return loop.succeeded().flatMap(on: .nextTurn, watch)
            }
            try loop.run(until: watch())
            let shares = zip(taken, taken.dropFirst()).map { $1 - $0 }
            #expect(shares.max() == perTurn)
            withExtendedLifetime(clients) {}
            server.close()
        }
    }

    @Test("limits that make no sense are refused by what they are", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let refused = [
                AcceptLimits(maxConnections: 0):
                    "maxConnections must be at least 1, not 0; give nil for no limit",
                AcceptLimits(maxConnections: 4, lowWaterMark: 4):
                    "lowWaterMark must be at least 0 and below maxConnections, 4, not 4",
                AcceptLimits(maxConnections: 4, lowWaterMark: -1):
                    "lowWaterMark must be at least 0 and below maxConnections, 4, not -1",
                AcceptLimits(lowWaterMark: 4):
                    "lowWaterMark needs a limit; give maxConnections too",
                AcceptLimits(perTurn: 0): "perTurn must be at least 1, not 0",
            ]
            for (limits, sentence) in refused {
                #expect(throws: FutureError.invalidArgument(sentence)) {
                    try TCPServer.listen(host: "127.0.0.1", port: 0, accepting: limits, on: loop, echo)
                }
                let server = TCPServer(on: loop, echo)
                #expect(throws: FutureError.invalidArgument(sentence)) { try server.setAcceptLimits(limits) }
            }
        }
    }

    @Test("several sockets share a server and its limit", arguments: TestNetwork.allCases)
    func severalSockets(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = TCPServer(on: loop, echo)
            try server.setAcceptLimits(AcceptLimits(maxConnections: 4))
            let ports = try (0..<3).map { _ in try server.listen(host: "127.0.0.1", port: 0).port }
            #expect(server.localAddresses.map(\.port) == ports)
            #expect(server.localAddress.port == ports[0])
            var clients = (0..<9).map { Peer(network, port: ports[$0 % 3], on: loop) }
            for client in clients { #expect(client.send([7])) }
            while !clients.isEmpty {
                var answered: Int?
                try loop.runUntil {
                    answered = clients.firstIndex { $0.receive() == [7] }
                    return answered != nil
                }
                #expect(server.activeConnections <= 4)
                clients.remove(at: answered!)
            }
            try loop.runUntil { server.statistics.accepted == 9 }
            try loop.run(until: server.close())
            #expect(throws: FutureError.self) { try server.listen(host: "127.0.0.1", port: 0) }
        }
    }

    @Test("two sockets share a port only if both ask for it", arguments: TestNetwork.allCases)
    func sharedPort(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var counts = [0, 0]
            let first = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(sharingPort: true), on: loop,
                owning: { _ in counts[0] += 1 })
            let port = first.localAddress.port
            let second = try TCPServer.listen(
                host: "127.0.0.1", port: port, options: ListenOptions(sharingPort: true), on: loop,
                owning: { _ in counts[1] += 1 })
            let clients = (0..<64).map { _ in Peer(network, port: port, on: loop) }
            try loop.runUntil { counts[0] + counts[1] == 64 }
            // By a hash over four numbers: one in 2^63 that all go to one.
            #expect(counts.min()! > 0)
            let error = #expect(throws: SystemError.self) {
                try TCPListener(host: "127.0.0.1", port: port, on: loop)
            }
            #expect(error?.code == .addressInUse)
            withExtendedLifetime(clients) {}
            first.close()
            second.close()
        }
    }
}
