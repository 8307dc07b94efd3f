import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramStatisticsTests {
    @Test(
        "each datagram is counted once at each end, with its bytes as they came",
        arguments: TestNetwork.allCases)
    func counts(network: TestNetwork) throws {
        var limits = DatagramLimits()
        limits.maxSize = 10
        try withSockets(network, limits: limits) { loop, server, client in
            for size in [0, 10, 11] {
                client.send(Data(count: size), to: server.localAddress)
                _ = try loop.run(until: server.receive())
            }
            _ = loop.failure(of: client.send(Data(count: 65_508), to: server.localAddress))
            #expect(client.statistics.received == 0)
            #expect(client.statistics.sent == 3 && client.statistics.sentBytes == 21)
            let came = server.statistics
            #expect(came.received == 3 && came.receivedBytes == 21 && came.truncated == 1)
            #expect(came.sent == 0 && came.dropped == 0 && came.unreachable == 0)
        }
    }

    @Test("the numbers stay when the socket is closed", arguments: TestNetwork.allCases)
    func closed(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let last = client.send("last", to: server.localAddress)
            try loop.run(until: client.close())
            #expect(client.statistics.sent == 1 && client.statistics.sentBytes == 4)
            #expect(loop.outcome(of: last).isSuccess)
            #expect(client.statistics.dropped == 0)
        }
    }
}
