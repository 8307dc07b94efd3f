import Futures
import TestSupport
import Testing

struct LoopHomeTests {
    @Test(
        "a loop moves to the thread that runs it, if nothing was made on it before",
        arguments: Driver.allCases)
    func moves(driver: Driver) throws {
        let loop = try driver.makeLoop()
        #expect(loop.isCurrent)
        let ran = try onThread {
            #expect(!loop.isCurrent)
            try loop.run()
            #expect(loop.isCurrent)
            let value = try loop.run(until: loop.submit { 1 })
            loop.shutdown()
            return value
        }
        #expect(ran == 1)
        #expect(!loop.isCurrent)
    }
}
