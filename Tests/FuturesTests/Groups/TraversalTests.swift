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

    @Test("a traversal whose work has failed already queues its next step once")
    func failedAlready() throws {
        try withLoop(.virtual) { loop in
            let endless = loop.traverseSettled(sequence(first: 0) { $0 + 1 }, maxConcurrent: 2) { _ in
                loop.failed(Failure(), of: Int.self)
            }
            for _ in 0..<8 { try settle(loop) }
            #expect(loop.statistics.readyCallbacks <= 1)
            #expect(endless.cancel())
            try settle(loop)
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let settled = loop.traverseSettled(0..<3, maxConcurrent: 2) { promises[$0].future }
            for promise in promises { promise.fail(Failure()) }
            #expect(loop.statistics.readyCallbacks == 1)
            #expect(try loop.run(until: settled.map { $0.count }) == 3)
        }
    }
}
