import FoundationEssentials
import TestSupport
import Testing

@testable import FuturesTesting

struct SparseBytesTests {
    @Test("they are the bytes that plain data has", arguments: SeededGenerator.seeds(50))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (bytes, plain) = (SparseBytes(), Data())
        for step in 0..<40 {
            let (offset, count) = (random.below(20_000), random.below(3) == 0 ? random.below(10_000) : 1)
            switch random.below(4) {
            case 0:
                bytes.resize(to: offset)
                plain = plain.prefix(offset) + Data(count: max(0, offset - plain.count))
            case 1:
                #expect(bytes.read(count, at: offset) == Data(plain.dropFirst(offset).prefix(count)))
            default:
                let new = Data(repeating: UInt8(step + 1), count: count)
                let growth = bytes.growth(by: offset..<offset + count)
                let stored = bytes.storedCount
                bytes.write(new, at: offset)
                #expect(bytes.storedCount == stored + growth)
                plain += Data(count: max(0, offset + count - plain.count))
                plain.replaceSubrange(offset..<offset + count, with: new)
            }
            #expect(bytes.all == plain)
        }
    }

    @Test("what lies between what was written takes no memory")
    func holes() {
        var bytes = SparseBytes()
        bytes.write(Data("a".utf8), at: 0)
        bytes.write(Data("z".utf8), at: 1 << 40)
        bytes.resize(to: .max)
        #expect(bytes.count == .max && bytes.storedCount == 2)
        #expect(bytes.read(3, at: (1 << 40) - 1) == Data("\0z\0".utf8))
        #expect(bytes.read(10, at: .max - 2) == Data(count: 2) && bytes.read(1, at: .max).isEmpty)
        bytes.resize(to: 1)
        #expect(bytes.all == Data("a".utf8))
    }
}
