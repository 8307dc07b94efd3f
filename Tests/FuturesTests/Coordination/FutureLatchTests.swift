import Futures
import Testing

struct FutureLatchTests {
    @Test("a latch opens when it has been counted down", arguments: Driver.allCases)
    func latch(driver: Driver) throws {
        try withLoop(driver) { loop in
            let latch = FutureLatch(count: 3, on: loop)
            let opened = latch.wait()
            latch.countDown()
            latch.countDown(by: 0)
            #expect(latch.count == 2 && !opened.isCompleted)
            latch.countDown(by: 5)
            #expect(latch.count == 0)
            try loop.run(until: opened)
            latch.countDown()
            try loop.run(until: latch.wait())
            try loop.run(until: FutureLatch(count: 0, on: loop).wait())
        }
    }
}
