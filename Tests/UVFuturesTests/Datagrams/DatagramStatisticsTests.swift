import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramStatisticsTests {
    @Test("what a socket has done is counted", arguments: TestNetwork.allCases)
    func counts(network: TestNetwork) throws {
        var limits = DatagramLimits()
        limits.maxSize = 100
        try withSockets(network, limits: limits) { loop, server, client in
            for size in [1, 10, 200] {
                try loop.run(until: client.send(Data(count: size), to: server.localAddress))
            }
            for _ in 0..<3 { _ = try loop.run(until: server.receive()) }
            var expected = DatagramStatistics()
            (expected.received, expected.receivedBytes, expected.truncated) = (3, 211, 1)
            #expect(server.statistics == expected)
            expected = DatagramStatistics()
            (expected.sent, expected.sentBytes) = (3, 211)
            #expect(client.statistics == expected)
        }
    }
}
