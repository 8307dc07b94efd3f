import Futures
import Testing

struct GraveyardTests {
    @Test("closures that hold the promise of the next, very deep, dropped unrun", arguments: Driver.allCases)
    func captures(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            var (broken, next) = (0, loop.makePromise(of: Int.self))
            for _ in 0..<longChain {
                let (promise, captured) = (loop.makePromise(of: Int.self), next)
                let future = captured.future.recover { _ in
                    broken += 1
                    return 0
                }
                _ = promise.future.map { value in
                    captured.succeed(value)
                    withExtendedLifetime(future) {}
                }.ignoreFailure()
                next = promise
            }
            next.cancel()
            next = loop.makePromise()
            next.cancel()
            while broken < longChain - 1 { try settle(loop) }
        }
    }

    @Test("values that hold a future whose value holds the next, very deep", arguments: Driver.allCases)
    func values(driver: Driver) throws {
        struct Nest { var inside: Future<Nest>? }
        try onSmallStack(driver) { loop in
            var nest = Nest()
            for _ in 0..<longChain { nest = Nest(inside: loop.succeeded(nest)) }
            nest = Nest()
            #expect(nest.inside == nil)
        }
    }
}
