import Dispatch
import Futures
import Synchronization
import TestSupport
import Testing

struct ExecuteTests {
    /// Numbers that any thread may add.
    private final class Numbers: Sendable {
        private let numbers = Mutex<[Int]>([])

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }

        var all: [Int] { numbers.withLock { $0 } }
    }

    @Test("jobs of the loop's own thread run later, in order", arguments: Driver.allCases)
    func ownThread(driver: Driver) throws {
        try withLoop(driver) { loop in
            let numbers = Numbers()
            for number in 0..<3 { #expect(loop.execute { numbers.add(number) }) }
            #expect(numbers.all.isEmpty)
            try loop.run()
            #expect(numbers.all == [0, 1, 2])
        }
    }

    @Test("jobs of other threads run on the loop, in order for each thread", arguments: Driver.allCases)
    func otherThreads(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (numbers, threads, jobs, group) = (Numbers(), 4, 1000, DispatchGroup())
            loop.core.hold()
            for thread in 0..<threads {
                startThread(of: group) {
                    for job in 0..<jobs {
                        loop.execute {
                            if !loop.isCurrent { Issue.record("a job has run elsewhere") }
                            numbers.add(thread * jobs + job)
                            if numbers.all.count == threads * jobs { loop.stop() }
                        }
                    }
                }
            }
            try loop.run()
            group.wait()
            loop.core.letGo()
            for thread in 0..<threads {
                #expect(
                    numbers.all.filter { $0 / jobs == thread } == Array(thread * jobs..<(thread + 1) * jobs))
            }
        }
    }

    @Test("a job that was given before the run is run", arguments: Driver.allCases)
    func beforeRun(driver: Driver) throws {
        try withLoop(driver) { loop in
            let numbers = Numbers()
            try onThread { for number in 0..<3 { loop.execute { numbers.add(number) } } }
            try loop.run()
            #expect(numbers.all == [0, 1, 2])
        }
    }

    @Test("a job wakes a loop that waits for something else", arguments: Driver.allCases)
    func wakes(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (numbers, group) = (Numbers(), DispatchGroup())
            let idle = loop.repeat(every: driver == .virtual ? .milliseconds(1) : .seconds(1000)) {}
            loop.submit {
                startThread(of: group) {
                    loop.execute {
                        numbers.add(1)
                        loop.stop()
                    }
                }
            }.whenSuccess {}
            try loop.run()
            group.wait()
            #expect(numbers.all == [1])
            idle.cancel()
        }
    }

    @Test("a job is released when it has run", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        final class Token: Sendable {}
        try withLoop(driver) { loop in
            weak var captured: Token?
            func execute() {
                let token = Token()
                captured = token
                loop.execute { withExtendedLifetime(token) {} }
            }
            execute()
            #expect(captured != nil)
            try loop.run()
            #expect(captured == nil)
        }
    }

    @Test("submit gives what its body returns or throws", arguments: Driver.allCases)
    func submit(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.submit { 1 }, succeedsWith: 1)
            expect(loop.submit { throw Failure(2) }, failsWith: Failure(2))
            expectCancelled(loop.submit { throw CancellationError() })
        }
    }
}
