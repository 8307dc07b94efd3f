import Foundation
import HTTP1
import Testing

struct CorpusTests {
    #if DEBUG
        private static let isOptimized = false
    #else
        private static let isOptimized = true
    #endif

    @Test func `the corpus has at least three hundred messages, good and bad`() {
        #expect(Corpus.messages.count >= 300)
        #expect(Corpus.messages.filter { $0.verdict.hasPrefix("ok") }.count >= 100)
        #expect(Corpus.messages.filter { $0.verdict.hasPrefix("refused") }.count >= 150)
    }

    @Test func `each message gets the verdict that the corpus says`() {
        for message in Corpus.messages {
            #expect(verdict(message.kind, [message.bytes[...]]) == message.verdict, "\(message.text)")
        }
    }

    @Test func `each way to be refused is in the corpus`() {
        let found = Set(Corpus.messages.map(\.verdict))
        // What ends too early is not refused by what has come.
        for error in HTTPError.allCases where error != .unexpectedEnd {
            #expect(found.contains("refused \(error.rawValue)"))
        }
    }

    @Test func `the verdict does not depend on how the bytes are cut`() {
        for message in Corpus.messages {
            let bytes = message.bytes
            // Code that is not optimized takes long for the few messages that are long.
            let step = Self.isOptimized ? 1 : max(1, bytes.count / 500)
            for cut in stride(from: 0, through: bytes.count, by: step) {
                let said = verdict(message.kind, [bytes[..<cut], bytes[cut...]])
                #expect(said == message.verdict, "\(message.text), cut at \(cut)")
            }
            let single = verdict(message.kind, bytes.indices.map { bytes[$0...$0] })
            #expect(single == message.verdict, "\(message.text), byte by byte")
        }
    }

    @Test func `where llhttp says something else, there is a reason`() {
        var used: Set<[String]> = []
        for message in Corpus.messages where message.verdict != message.llhttp {
            let (ours, theirs) = (verdictWord(message.verdict), verdictWord(message.llhttp))
            // Both refuse it, and name what they saw first.
            if ours != "ok", theirs != "ok" { continue }
            used.insert([ours, theirs])
            #expect(
                Corpus.differences.contains { $0[0] == ours && $0[1] == theirs },
                "\(message.text): \(message.verdict), and llhttp \(message.llhttp)")
        }
        #expect(used == Set(Corpus.differences.map { Array($0.prefix(2)) }))
    }
}
