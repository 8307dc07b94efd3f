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
}
