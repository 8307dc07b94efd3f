import Futures
import Testing

struct DelayTests {
    @Test("delay passes value and error on, so much later", arguments: Driver.allCases)
    func delay(driver: Driver) throws {
        try withLoop(driver) { loop in
            let start = loop.now
            try expect(loop.succeeded(1).delay(by: .ticks(1)), succeedsWith: 1)
            #expect(start.duration(to: loop.now) >= .ticks(1))
            expect(loop.failed(Failure(2), of: Int.self).delay(by: .ticks(1)), failsWith: Failure(2))
            #expect(start.duration(to: loop.now) >= .ticks(2))
            try expect(loop.sleep(for: .ticks(2)).map { 3 }.delay(by: .ticks(2)), succeedsWith: 3)
            #expect(start.duration(to: loop.now) >= .ticks(6))
        }
    }

    @Test("cancellation is not delayed", arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let delayed = promise.future.delay(by: .seconds(100))
            promise.cancel()
            #expect("\(delayed)" == "Future(cancelled)")
        }
    }
}
