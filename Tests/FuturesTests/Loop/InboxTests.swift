import Dispatch
import Futures
import Glibc
import TestSupport
import Testing

/// Many threads that give one loop work at once.
struct InboxTests {
    private static let threads = 8

    @Test("eight threads lose no job, and each one's jobs run in its order", arguments: Driver.allCases)
    func flood(driver: Driver) throws {
        try withLoop(driver) { loop in
            let jobs = isSoaking ? 1_000_000 : driver == .libuv ? 50_000 : 5_000
            let (group, log) = (DispatchGroup(), Log(Self.threads))
            loop.core.hold()
            for thread in 0..<Self.threads {
                startThread(of: group) {
                    for job in 0..<jobs {
                        loop.execute {
                            log.ran(job, of: thread)
                            if log.count == Self.threads * jobs { loop.stop() }
                        }
                    }
                }
            }
            try loop.run()
            loop.core.letGo()
            group.wait()
            #expect(log.count == Self.threads * jobs)
            #expect(log.isInOrder)
        }
    }

    @Test("while the loop is busy, a burst of any size is one wake-up", arguments: Driver.allCases)
    func oneWakeUp(driver: Driver) throws {
        try withLoop(driver) { loop in
            let runs = Tally()
            let before = loop.statistics.wakeUps
            try loop.run(
                until: loop.submit {
                    let group = DispatchGroup()
                    for _ in 0..<Self.threads {
                        startThread(of: group) { for _ in 0..<1000 { loop.execute { runs.add() } } }
                    }
                    group.wait()
                })
            try loop.run()
            #expect(runs.sum == Self.threads * 1000)
            #expect(loop.statistics.wakeUps - before == 1)
        }
    }

    @Test("while the loop shuts down, each submission either runs or is refused", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        for _ in 0..<(isSanitized ? 1 : 4) {
            try withLoop(driver) { loop in
                let (group, started) = (DispatchGroup(), DispatchSemaphore(value: 0))
                let (ran, accepted, refused, ended) = (Tally(), Tally(), Tally(), Tally())
                loop.core.hold()
                for _ in 0..<Self.threads {
                    startThread(of: group) {
                        for job in 0... {
                            let promise = loop.makeRemotePromise(of: Int.self)
                            let isAccepted = loop.execute {
                                ran.add()
                                promise.future.whenComplete { _ in ended.add() }
                            }
                            promise.succeed(1)
                            if job == 10 { started.signal() }
                            if isAccepted { accepted.add() } else { break }
                            // Not much faster than the loop, which has to run them all.
                            while accepted.sum - ran.sum > 10_000 / slowShare { sched_yield() }
                        }
                        refused.add()
                    }
                }
                startThread(of: group) {
                    for _ in 0..<Self.threads { started.wait() }
                    loop.stop()
                }
                try loop.run()
                loop.core.letGo()
                loop.shutdown()
                group.wait()
                #expect(refused.sum == Self.threads)
                #expect(ran.sum == accepted.sum)
                #expect(ended.sum == accepted.sum)
            }
        }
    }
}

/// Which jobs have run. On the loop's thread only.
private final class Log: @unchecked Sendable {
    private var next: [Int]
    private(set) var count = 0
    private(set) var isInOrder = true

    init(_ threads: Int) { next = Array(repeating: 0, count: threads) }

    func ran(_ job: Int, of thread: Int) {
        if next[thread] != job { isInOrder = false }
        next[thread] += 1
        count += 1
    }
}
