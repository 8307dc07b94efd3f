import Futures
import Testing

struct TraversalTests {
    @Test("a traversal whose work has completed already starves nobody")
    func endlessTraversal() throws {
        for fails in [false, true] {
            try withLoop(.virtual) { loop in
                var runs = 0
                let endless = loop.traverseSettled(sequence(first: 0) { $0 + 1 }, maxConcurrent: 2) {
                    _ -> Future<Int> in
                    runs += 1
                    return fails ? loop.failed(Failure()) : loop.succeeded(1)
                }
                #expect(runs <= 4)
                try settle(loop)
                #expect(runs < 20_000)
                #expect(endless.cancel())
            }
        }
    }
}
