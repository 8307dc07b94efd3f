import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import UVFutures

struct UVReadBlockTests {
    // Chunks of one size may lie in the same memory, one after the other.
    @Test(
        "what has been read stays as it came as long as somebody has it", arguments: [3, 64, 1024, 5000],
        TestNetwork.allCases)
    func keptChunks(size: Int, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            var kept: [Int: Data] = [:]
            for number in 0..<8 {
                let sent = pattern(size, from: number)
                client.write(sent)
                let chunk = try loop.run(until: server.read())
                #expect(chunk == sent)
                #expect(chunk.startIndex == 0)
                if number % 3 > 0 { kept[number] = chunk }
            }
            for (number, chunk) in kept { #expect(chunk == pattern(size, from: number)) }
            loop.closeAll(client, server)
        }
    }

    @Test(
        "what has been read may be looked at, and let go of, on another thread while more is read",
        arguments: TestNetwork.allCases)
    func chunksElsewhere(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            let queue = DispatchQueue(label: "elsewhere")
            let unchanged = Mutex(0)
            for number in 0..<200 {
                let sent = pattern(64, from: number)
                client.write(sent)
                let chunk = try loop.run(until: server.read())
                queue.async { if chunk == sent { unchanged.withLock { $0 += 1 } } }
            }
            queue.sync {}
            #expect(unchanged.withLock { $0 } == 200)
            loop.closeAll(client, server)
        }
    }

    // The block grows when it is filled twice in a row, and how much has come by a read is the system's business.
    @Test("chunks keep their bytes, though all reads share one block of memory, which grows")
    func chunksAreStable() throws {
        try withLoop { loop in
            let sent = pattern(6_000_000)
            var hasGrown = false
            for _ in 0..<50 where !hasGrown {
                let (client, server) = try loop.connectedPair()
                client.write(sent)
                client.shutdownWrite()
                // As much as the system takes is there before the first read.
                try loop.run(until: loop.submit(on: .whenIdle) {})
                var chunks: [Data] = []
                try loop.run(until: server.forEachChunk { chunk in chunks.append(chunk) })
                #expect(chunks.allSatisfy { $0.startIndex == 0 && !$0.isEmpty })
                #expect(chunks.reduce(Data(), +) == sent)
                hasGrown = chunks.contains { $0.count > 64 * 1024 }
                loop.closeAll(client, server)
            }
            #expect(hasGrown)
        }
    }

    @Test("the block doubles after every second read in a row that fills it, up to 256 KiB")
    func growth() {
        var block = UVReadBlock()
        let sizes = (0..<20).map { _ in
            defer { block.noteRead(block.size) }
            return block.size
        }
        let expected = [32, 32, 64, 64, 128, 128] + [Int](repeating: 256, count: 14)
        #expect(sizes == expected.map { $0 * 1024 })
    }

    @Test("the first that is read may be as short as a byte", arguments: [1, 15])
    func first(count: Int) {
        var block = UVReadBlock()
        unsafe block.prepare().copyBytes(from: [UInt8](repeating: 7, count: count))
        for _ in 0..<2 { #expect(block.take(count) == Data(repeating: 7, count: count)) }
    }
}
