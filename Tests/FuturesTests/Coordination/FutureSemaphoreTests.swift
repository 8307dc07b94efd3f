import Futures
import Testing

struct FutureSemaphoreTests {
    @Test("a semaphore lets in as many as it has permits, in the order of asking", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 2, on: loop)
            var running = 0
            var peak = 0
            var started: [Int] = []
            let all = (0..<10).map { number in
                semaphore.with {
                    started.append(number)
                    running += 1
                    peak = max(peak, running)
                    return loop.sleep(for: .ticks(1)).map { running -= 1 }
                }
            }
            #expect(semaphore.waitingCount == 8 && semaphore.available == 0 && semaphore.limit == 2)
            _ = try loop.run(until: Future.all(all))
            #expect(peak == 2)
            #expect(started == Array(0..<10))
            #expect(semaphore.available == 2)
        }
    }

    @Test("who asks for many is not overtaken by who asks for few", arguments: Driver.allCases)
    func fairness(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let semaphore = FutureSemaphore(count: 3, on: loop)
            let first = try #require(semaphore.tryAcquire(2))
            semaphore.acquire(3).whenSuccess { permit in
                seen.add("three")
                permit.release()
            }
            semaphore.acquire(1).whenSuccess { _ in seen.add("one") }
            #expect(semaphore.tryAcquire() == nil)
            try settle(loop)
            #expect(seen.entries.isEmpty)
            first.release()
            first.release()
            try settle(loop)
            #expect(seen.entries == ["three", "one"])
            #expect(semaphore.available == 3)
        }
    }

    @Test(
        "a waiter leaves when it is cancelled or its time is up, which may let others in",
        arguments: Driver.allCases)
    func departure(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 2, on: loop)
            let held = try #require(semaphore.tryAcquire())
            let greedy = semaphore.acquire(2)
            let modest = semaphore.acquire(1)
            #expect(!modest.isCompleted)
            #expect(greedy.cancel())
            #expect(modest.isCompleted && semaphore.available == 0)
            let late = semaphore.acquire().timeout(after: .ticks(1))
            var hasRun = false
            let never = semaphore.with { () -> Future<Void> in
                hasRun = true
                return loop.succeeded()
            }
            #expect(never.cancel())
            expect(late, failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(semaphore.waitingCount == 0 && !hasRun)
            held.release()
            withExtendedLifetime(modest) { #expect(semaphore.available == 1) }
        }
    }

    @Test(
        "a broken semaphore fails all who wait and who will, but leaves permits in peace",
        arguments: Driver.allCases)
    func broken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            let held = try #require(semaphore.tryAcquire())
            let waiting = semaphore.acquire()
            semaphore.break(Failure(1))
            semaphore.break(Failure(2))
            expect(waiting.map { $0.count }, failsWith: Failure(1))
            held.release()
            #expect(semaphore.available == 1 && semaphore.tryAcquire() == nil)
            expect(semaphore.acquire().map { $0.count }, failsWith: Failure(1))
        }
    }

    @Test("more permits than there are, or none, are refused", arguments: Driver.allCases)
    func invalid(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 2, on: loop)
            for count in [3, 0, -1] {
                let text = "\(count) permits were requested from a semaphore that has 2; ask for 1 to 2"
                expect(
                    semaphore.acquire(count).map { $0.count }, failsWith: FutureError.invalidArgument(text))
                #expect(semaphore.tryAcquire(count) == nil)
            }
        }
    }

    @Test("permits that are given back as soon as they are there need no stack", arguments: Driver.allCases)
    func depth(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            let first = try #require(semaphore.tryAcquire())
            var order: [Int] = []
            for number in 0..<10_000 {
                semaphore.acquire().whenSuccess(on: .immediate) { permit in
                    order.append(number)
                    permit.release()
                }
            }
            first.release()
            try settle(loop)
            #expect(order == Array(0..<10_000) && semaphore.available == 1)
        }
    }

    @Test("waiters fail when the loop is shut down", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let semaphore = FutureSemaphore(count: 1, on: loop)
            let held = semaphore.tryAcquire()
            let waiting = semaphore.acquire()
            loop.shutdown()
            #expect("\(waiting)" == "Future(failure: \(FutureError.shutDown))")
            #expect("\(semaphore.acquire().ignoreFailure())" == "Future(failure: \(FutureError.shutDown))")
            withExtendedLifetime(held) {}
        }
    }
}
