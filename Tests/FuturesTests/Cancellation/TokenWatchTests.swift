import Futures
import TestSupport
import Testing

struct TokenWatchTests {
    @Test("a token that lives long keeps nothing of what has ended", arguments: Driver.allCases)
    func noGrowth(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let empty = loop.statistics.futures
            var released = 0
            let rounds = largeCount
            for round in 0..<rounds {
                let promise = loop.makePromise(of: Int.self)
                let witness = Witness { released += 1 }
                let short = CancellationSource(on: loop)
                let token = source.token || short.token
                switch round % 5 {
                case 0: promise.future.whenComplete(token: token) { _ in witness.look() }
                case 1: promise.future.map(token: token) { _ in witness.look() }.whenComplete { _ in }
                case 2:
                    promise.future.flatMap(token: token) { _ in loop.succeeded(witness.look()) }
                        .ignoreFailure()
                case 3:
                    Future.race([promise.future.tap { _ in witness.look() }], token: token).ignoreFailure()
                default: token.onCancel { witness.look() }.unregister()
                }
                promise.succeed(1)
                if round % 1000 == 0 { try settle(loop) }
            }
            try settle(loop)
            #expect(released == rounds)
            #expect(loop.statistics.futures == empty)
            source.cancel()
        }
    }
}
