import FoundationEssentials
import TestSupport
import Testing

@testable import ByteStreams

struct DelimiterSearchTests {
    @Test("the first delimiter is found, however it is split", arguments: SeededGenerator.seeds(10))
    func matchesNaiveSearch(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let delimiter = random.bytes(1 + random.below(5), below: 2)
            let text = random.bytes(60, below: 2)
            let expected = text.indices.first { text[$0...].starts(with: delimiter) }
            var search = DelimiterSearch(delimiter)
            let buffer = InboundBuffer()
            buffer.append(Data([9, 9]))
            buffer.discard(2)
            var found: Int?
            var appended = 0
            while found == nil, appended < text.count {
                let size = 1 + random.below(8)
                buffer.append(Data(text.dropFirst(appended).prefix(size)))
                appended += size
                found = search.position(in: buffer)
                #expect(found ?? search.passed <= expected ?? text.count)
            }
            #expect(found == expected)
        }
    }

    @Test("the delimiter is found across blocks that are not put together")
    func acrossLargeBlocks() {
        for (offset, blocks) in (0...4).flatMap({ offset in (1...3).map { (offset, $0) } }) {
            let text = Data(count: 8000 * blocks - offset) + Data("abab") + Data(count: 8000)
            for looksEarly in [false, true] {
                let buffer = InboundBuffer()
                buffer.append(Data([9, 9]) + text.prefix(8000))
                buffer.discard(2)
                var search = DelimiterSearch(Data("abab"))
                var found = looksEarly ? search.position(in: buffer) : nil
                for block in 1...blocks {
                    buffer.append(Data(text[8000 * block..<min(8000 * (block + 1), text.count)]))
                    if looksEarly, found == nil { found = search.position(in: buffer) }
                }
                #expect((found ?? search.position(in: buffer)) == 8000 * blocks - offset)
            }
        }
    }

    @Test("no byte is looked at twice")
    func isLinear() {
        let buffer = InboundBuffer()
        var search = DelimiterSearch(Data(repeating: 1, count: 1000) + Data([2]))
        for _ in 0..<2000 {
            buffer.append(Data(repeating: 1, count: 100))
            #expect(search.position(in: buffer) == nil)
        }
        #expect(search.passed == 200_000 - 1000)
        buffer.append(Data([2]))
        #expect(search.position(in: buffer) == 199_000)
    }
}
