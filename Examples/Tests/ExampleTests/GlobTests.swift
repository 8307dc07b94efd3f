import Testing

@testable import KeyValueServer

struct GlobTests {
    /// Tries everything that a star may stand for.
    private func fits(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == UInt8(ascii: "*") {
            return (text.startIndex...text.endIndex).contains { fits(pattern.dropFirst(), text[$0...]) }
        }
        guard let byte = text.first, first == UInt8(ascii: "?") || first == byte else { return false }
        return fits(pattern.dropFirst(), text.dropFirst())
    }

    @Test("stars and question marks fit what any choice of theirs fits")
    func stars() {
        for _ in 0..<20_000 {
            let pattern = (0..<Int.random(in: 0...6)).map { _ in [UInt8]("*?ab".utf8).randomElement()! }
            let text = (0..<Int.random(in: 0...6)).map { _ in [UInt8]("ab".utf8).randomElement()! }
            #expect(Glob(pattern).matches(text) == fits(pattern[...], text[...]), "\(pattern) \(text)")
        }
    }

    @Test("a large set is read once, and not for each byte that is compared", .timeLimit(.minutes(1)))
    func largeSet() {
        let set = "[" + String(repeating: "b", count: 30_000) + "]"
        let glob = Glob(Array(("*" + set + set).utf8))
        #expect(!glob.matches(Array(repeating: UInt8(ascii: "a"), count: 1_000_000)))
        #expect(glob.matches(Array("aabb".utf8)))
    }
}
