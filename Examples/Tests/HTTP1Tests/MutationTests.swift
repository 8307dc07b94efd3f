import Foundation
import HTTP1
import Testing

struct MutationTests {
    /// `SOAK=1` takes the full size.
    private static let count =
        ProcessInfo.processInfo.environment["SOAK"] == "1" ? 1_000_000 : isOptimized ? 50_000 : 2000
    #if DEBUG
        private static let isOptimized = false
    #else
        private static let isOptimized = true
    #endif

    @Test func `mutated messages trap nothing, and are judged alike however they are cut`() {
        var random = SplitMix(state: 7)
        let messages = Corpus.messages.filter { $0.bytes.count < 2000 }
        var accepted = 0
        for _ in 0..<Self.count {
            let message = messages.randomElement(using: &random)!
            var bytes = message.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                mutate(&bytes, messages.randomElement(using: &random)!.bytes, &random)
            }
            let whole = verdict(message.kind, [bytes[...]])
            if whole.hasPrefix("ok") { accepted += 1 }
            var pieces: [ArraySlice<UInt8>] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...max(1, bytes.count / 2), using: &random))
                pieces.append(piece)
                rest = rest.dropFirst(piece.count)
            }
            #expect(verdict(message.kind, pieces) == whole, "\(bytes)")
        }
        // Some are still messages, and many are not.
        #expect((Self.count / 50..<Self.count / 2).contains(accepted))
    }

    private func mutate(_ bytes: inout [UInt8], _ other: [UInt8], _ random: inout SplitMix) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2: bytes.insert("\r\n\0 :;,\t0".utf8.randomElement(using: &random)!, at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 4:
            let start = Int.random(in: 0...bytes.count, using: &random)
            bytes.insert(contentsOf: bytes[min(start, place)..<max(start, place)], at: place)
        default: bytes.replaceSubrange(place..., with: other.suffix(other.count / 2))
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
