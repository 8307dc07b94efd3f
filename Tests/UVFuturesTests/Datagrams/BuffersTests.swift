import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct BuffersTests {
    @Test("datagrams that nobody reads are lost, and counted", arguments: TestNetwork.allCases)
    func dropped(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try server.setReceiveBufferSize(10_000)
            let sends = (0..<1000).map { _ in client.send(Data(count: 1000), to: server.localAddress) }
            _ = try loop.run(until: Future.all(sends))
            try loop.run(for: .milliseconds(5))
            var count = 0
            let received = server.forEachDatagram { _, _ in count += 1 }
            try loop.run(for: .milliseconds(5))
            #expect(count > 0 && count < 1000)
            // The kernel counts those that it has put together as one.
            let dropped = server.statistics.dropped
            #expect(network == .virtual ? dropped == 1000 - count : dropped > 0)
            received.cancel()
        }
    }

    @Test("the system says how large its buffers are", arguments: TestNetwork.allCases)
    func sizes(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            // Linux doubles what it is asked for.
            try server.setReceiveBufferSize(8192)
            #expect(try server.receiveBufferSize == 16_384)
            try server.setSendBufferSize(9000)
            #expect(try server.sendBufferSize == 18_000)
            #expect(
                complaint { try server.setSendBufferSize(-1) }
                    == "a buffer of -1 bytes is out of range; give more than zero")
        }
    }
}
