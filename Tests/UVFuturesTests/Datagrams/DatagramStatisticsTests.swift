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
            let (here, there) = (server.statistics, client.statistics)
            #expect(
                [here.received, here.receivedBytes, here.truncated, here.sent, here.dropped] == [
                    3, 211, 1, 0, 0,
                ])
            #expect([there.sent, there.sentBytes, there.received, there.unreachable] == [3, 211, 0, 0])
        }
    }
}
