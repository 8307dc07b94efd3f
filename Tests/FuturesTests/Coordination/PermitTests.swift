import Futures
import TestSupport
import Testing

struct PermitTests {
    @Test("a permit that nobody holds any more is released", arguments: Driver.allCases)
    func release(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            var held = semaphore.tryAcquire()
            for _ in 0..<largeCount { _ = semaphore.acquire() }
            let last = semaphore.acquire()
            #expect(held != nil)
            held = nil
            // One after the other gets the permit, has nobody to give it to, and so releases it.
            #expect(last.isCompleted && semaphore.available == 0)
        }
    }

    @Test("who hears at once of what a body throws finds the permit released")
    func releasedAtOnce() throws {
        try withLoop(.virtual) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            var available: Int?
            let throwing = semaphore.with { () -> Future<Int> in throw Failure(1) }
            throwing.whenFailure(on: .immediate) { _ in available = semaphore.available }
            try settle(loop)
            #expect(available == 1)
        }
    }

    @Test("with releases on failure, throw and cancellation alike", arguments: Driver.allCases)
    func with(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            expect(semaphore.with { loop.failed(Failure(1), of: Int.self) }, failsWith: Failure(1))
            expect(semaphore.with { () -> Future<Int> in throw Failure(2) }, failsWith: Failure(2))
            #expect(semaphore.available == 1)
            let promise = loop.makePromise(of: Int.self)
            let running = semaphore.with { promise.future }
            try settle(loop)
            #expect(semaphore.available == 0)
            #expect(running.cancel())
            #expect(semaphore.available == 1 && promise.future.isCompleted)

            let stubborn = loop.makePromise(of: Int.self)
            stubborn.onCancelRequest { .continue }
            let going = semaphore.with { stubborn.future }
            try settle(loop)
            #expect(going.cancel())
            #expect(semaphore.available == 0)
            stubborn.succeed(3)
            #expect(semaphore.available == 1)
            try expect(going, succeedsWith: 3)
        }
    }
}
