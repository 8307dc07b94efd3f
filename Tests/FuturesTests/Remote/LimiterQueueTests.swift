import FuturesTesting
import TestSupport
import Testing

@testable import Futures

/// What a limited context keeps, and what it hands on.
struct LimiterQueueTests {
    /// Keeps the jobs that it is to start.
    private final class Keeper: RemoteRunner {
        let name = "keeper"
        private let all = Locked<[(job: RemoteJob, isBarrier: Bool)]>([])

        var kept: [(job: RemoteJob, isBarrier: Bool)] { all.withLock { $0 } }

        func start(_ job: RemoteJob, asBarrier isBarrier: Bool) {
            all.withLock { $0.append((job, isBarrier)) }
        }
    }

    @Test("cancelled jobs are let go once they are more than 64, and more than half of those that wait")
    func letsGo() {
        let loop = EventLoop.virtual()
        let keeper = Keeper()
        let limiter = Limiter(limit: 1, name: "one", on: keeper)
        func start() -> RemoteJob {
            let job = RemoteJob(loop.core) { _ in }
            limiter.start(job, asBarrier: false)
            return job
        }
        var cancelled: [Weak<RemoteJob>] = []
        /// Gives `count` jobs and cancels them. Returns how many of all cancelled ones are kept.
        func keptAfterCancelling(_ count: Int) -> Int {
            for _ in 0..<count {
                let job = start()
                job.cancel()
                cancelled.append(Weak(job))
            }
            return cancelled.count { $0.object != nil }
        }
        let running = start()
        // Behind a job that waits, since cancelled ones at the front go at once.
        var waiting = [start()]
        #expect(keptAfterCancelling(64) == 64)
        #expect(keptAfterCancelling(1) == 0)
        while waiting.count < 70 { waiting.append(start()) }
        #expect(keptAfterCancelling(70) == 70)
        #expect(keptAfterCancelling(1) == 0)
        #expect(keptAfterCancelling(1) == 1)
        running.run()
        for job in waiting {
            #expect(job.isWaiting)
            job.run()
        }
        // No cancelled job was handed on.
        #expect(keeper.kept.count == 1 + waiting.count)
        #expect(keptAfterCancelling(0) == 0)
    }

    @Test("a limited context lets a barrier wait by itself, and hands it on as any other job")
    func barriers() {
        let loop = EventLoop.virtual()
        let keeper = Keeper()
        let limiter = Limiter(limit: 2, name: "two", on: keeper)
        for isBarrier in [false, true, false] {
            limiter.start(RemoteJob(loop.core) { _ in }, asBarrier: isBarrier)
        }
        for index in 0..<3 { keeper.kept[index].job.run() }
        #expect(keeper.kept.map(\.isBarrier) == [false, false, false])
    }
}
