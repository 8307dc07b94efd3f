import FoundationEssentials
import Testing
import UVFutures

struct UVWriteTests {
    @Test("bytes arrive in order, however they were written", arguments: TestNetwork.allCases)
    func mixedWrites(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            var expected = Data()
            for size in [1, 14, 15, 32, 33, 100, 70_000, 0, 3, 1_000_000, 5] {
                let data = pattern(size, from: expected.count)
                client.write(data)
                expected += data
            }
            // More than one vectored write takes, small ones among them.
            let list = (0..<500).map { pattern($0 % 40 + ($0 % 7 == 0 ? 3_000 : 0), from: $0) }
            client.write(list)
            for data in list { expected += data }
            client.write("end")
            expected += Data("end".utf8)
            client.shutdownWrite()
            #expect(try loop.run(until: server.readToEnd(limit: 10_000_000)) == expected)
            loop.closeAll(client, server)
        }
    }

    @Test(
        "changing a buffer after it was written changes nothing that is sent", arguments: TestNetwork.allCases
    )
    func bufferIsChanged(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            var buffers = (0..<20).map { pattern(300_000, from: $0) }
            let expected = buffers.reduce(Data(), +)
            client.write(buffers)
            for index in buffers.indices { buffers[index].resetBytes(in: 0..<300_000) }
            client.shutdownWrite()
            #expect(try loop.run(until: server.readToEnd(limit: 10_000_000)) == expected)
            loop.closeAll(client, server)
        }
    }
}
