import Testing

@testable import ByteStreams

struct SharedLimitsTests {
    @Test("streams of a few kinds share the limits of their kind, and those of very many do not")
    func kinds() {
        var kept = SharedLimits.Kept()
        let kinds = (0..<SharedLimits.Kept.most + 1).map { number in
            var limits = StreamLimits()
            limits.writeCap += number
            return limits
        }
        let shared = kinds.dropLast().map { kept.of($0) }
        for (limits, shared) in zip(kinds, shared) { #expect(kept.of(limits) === shared) }
        #expect(kept.of(kinds.last!).limits == kinds.last!)
        #expect(kept.of(kinds[1]) === shared[1])
        #expect(kept.of(kinds[0]) !== shared[0])
    }
}
