import Testing

@testable import KeyValueServer

struct GlobTests {
    private func matches(_ glob: Glob, _ text: [UInt8]) throws -> Bool {
        var steps = Glob.mostSteps
        return try glob.matches(text, &steps)
    }

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
    func stars() throws {
        for _ in 0..<20_000 {
            let pattern = (0..<Int.random(in: 0...6)).map { _ in [UInt8]("*?ab".utf8).randomElement()! }
            let text = (0..<Int.random(in: 0...6)).map { _ in [UInt8]("ab".utf8).randomElement()! }
            #expect(try matches(Glob(pattern), text) == fits(pattern[...], text[...]), "\(pattern) \(text)")
        }
    }

    @Test("a large set is read once, and not for each byte that is compared", .timeLimit(.minutes(1)))
    func largeSet() throws {
        let set = "[" + String(repeating: "b", count: 30_000) + "]"
        let glob = Glob(Array(("*" + set + set).utf8))
        #expect(try !matches(glob, Array(repeating: UInt8(ascii: "a"), count: 1_000_000)))
        #expect(try matches(glob, Array("aabb".utf8)))
    }

    @Test(
        "what would take seconds is refused, for one key and for many, and what is long alone is not",
        .timeLimit(.minutes(1)))
    func steps() throws {
        let many = [UInt8](repeating: UInt8(ascii: "a"), count: 20_000)
        let long = Glob(Array("*".utf8) + many.prefix(10_000) + Array("b".utf8))
        #expect(throws: CommandError.self) { try matches(long, many) }
        #expect(try matches(long, many.prefix(10_050) + Array("b".utf8)))
        var steps = Glob.mostSteps
        #expect(throws: CommandError.self) {
            for _ in 0..<100 { _ = try long.matches(Array(many.prefix(10_200)), &steps) }
        }
        steps = Glob.mostSteps
        let short = Glob(Array("*aaab*".utf8))
        for _ in 0..<100 { #expect(try !short.matches(many, &steps)) }
    }
}
