import FuturesTesting
import Testing
import UVFutures

struct DatagramSocketTests {
    @Test("a body that closes the socket is called no more", arguments: TestNetwork.allCases)
    func closingBody(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            var count = 0
            let reading = server.forEachDatagram { _, _ in
                count += 1
                server.close()
            }
            for _ in 0..<10 { client.send("same", to: server.localAddress) }
            #expect(loop.outcome(of: reading).isSuccess)
            try loop.run(for: .milliseconds(5))
            #expect(count == 1 && !server.isOpen)
        }
    }

    @Test("a waiter that closes the socket ends the others", arguments: TestNetwork.allCases)
    func closingWaiter(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let first = server.receive().tap { _ in server.close() }
            let second = server.receive()
            client.send("x", to: server.localAddress)
            #expect(loop.outcome(of: first).isSuccess)
            #expect(loop.outcome(of: second).isCancellation)
        }
    }

    @Test(
        "the handler hears what no receive waits for, until the socket is closed",
        arguments: TestNetwork.allCases)
    func unreachable(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            let client = try UDPSocket.connect(to: address, on: loop)
            let reading = client.forEachDatagram { _, _ in }
            var reports: [String] = []
            client.onUnreachable { reports.append("\($0)") }
            client.send("x")
            try loop.runUntil { !reports.isEmpty }
            #expect(reports == ["send ECONNREFUSED \(address): connection refused"])
            #expect(client.statistics.unreachable == 1 && !reading.isCompleted)
            client.onUnreachable(nil)
            client.send("x")
            try loop.runUntil { client.statistics.unreachable == 2 }
            try loop.run(until: client.close())
            #expect(reports.count == 1)
            #expect(loop.outcome(of: reading).isSuccess)
        }
    }

    @Test("a socket prints as its class and its ends", arguments: TestNetwork.allCases)
    func description(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let connected = try UDPSocket.connect(to: server.localAddress, on: loop)
            #expect(server.loop == loop)
            #expect("\(server)" == "UDPSocket (\(server.localAddress))")
            #expect("\(connected)" == "UDPSocket (\(connected.localAddress) – \(server.localAddress))")
            try loop.run(until: connected.close())
            try loop.run(until: connected.close())
            #expect("\(connected)".hasPrefix("UDPSocket (127.0.0.1:"))
        }
    }
}
