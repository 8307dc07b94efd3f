import FoundationEssentials
import TestSupport
import Testing

@testable import ByteStreams

struct InboundBufferTests {
    @Test("the buffer gives back what went in, however it is cut", arguments: SeededGenerator.seeds(10))
    func model(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let buffer = InboundBuffer()
        var model = Data()
        var taken = 0
        for _ in 0..<500 {
            if random.below(2) == 0 {
                let size = random.below(10) == 0 ? 9000 : 1 + random.below(40)
                let block = random.bytes(size)
                buffer.append(block)
                model.append(block)
                taken += size
            } else if random.below(3) == 0 {
                let block = buffer.takeBlock()
                #expect(block.isEmpty == model.isEmpty)
                expect(block, isFirstOf: &model)
            } else if random.below(3) == 0 {
                let size = random.below(model.count + 1)
                buffer.discard(size)
                model.removeFirst(size)
            } else {
                expect(buffer.take(random.below(model.count + 1)), isFirstOf: &model)
            }
            if random.below(4) == 0 {
                let blocks = buffer.blockCount
                #expect(buffer.joinBlocks() == (blocks > 1) && buffer.blockCount == max(1, blocks - 1))
            }
            #expect(buffer.count == model.count)
            #expect(buffer.isEmpty == model.isEmpty)
            let (start, byte) = (random.below(model.count + 1), random.bytes(1)[0])
            let index = model.dropFirst(start).firstIndex(of: byte).map { $0 - model.startIndex }
            #expect(model.isEmpty || buffer.position(of: byte, from: start) == index)
            if !model.isEmpty {
                let index = random.below(model.count)
                #expect(buffer[index] == model[model.startIndex + index])
            }
        }
        expect(buffer.takeAll(), isFirstOf: &model)
        #expect(model.isEmpty && buffer.taken == taken)
    }

    private func expect(_ taken: Data, isFirstOf model: inout Data) {
        #expect(taken == model.prefix(taken.count))
        #expect(taken.startIndex == 0)
        model.removeFirst(taken.count)
    }

    @Test("small blocks are put together, large ones are not")
    func coalesces() {
        let buffer = InboundBuffer()
        for _ in 0..<10_000 { buffer.append(Data([1])) }
        #expect(buffer.blockCount == 3)
        buffer.append(Data(count: 5000))
        #expect(buffer.blockCount == 4)
        #expect(buffer.takeBlock().count == 4096)
    }

    @Test("discarding everything keeps the end")
    func discardsAll() {
        let buffer = InboundBuffer()
        buffer.append(Data([1]))
        buffer.isAtEnd = true
        buffer.discard(1)
        #expect(buffer.isEmpty && buffer.isAtEnd)
    }
}
