import Dispatch
import Futures
import FuturesTesting
import Glibc
import Synchronization
import TestSupport
import Testing

struct OwningThreadsTests {
    @Test(
        "a loop that another thread has taken over stays with that when the first one ends",
        arguments: Driver.allCases)
    func takenOver(driver: Driver) throws {
        let (taken, firstHasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        try onPlainThread {
            let loop = try driver.makeLoop()
            startThread(of: group) {
                do {
                    try loop.run()
                    taken.signal()
                    firstHasEnded.wait()
                    #expect(loop.isCurrent)
                    try expect(loop.submit { 1 }, succeedsWith: 1)
                    loop.shutdown()
                } catch {
                    Issue.record(error)
                }
            }
            taken.wait()
        }.get()
        firstHasEnded.signal()
        group.wait()
    }

    @Test("a thread lets go of what belongs to its loop when it ends")
    func letsGoAtItsEnd() async {
        await #expect(processExitsWith: .success) {
            try onPlainThread {
                let promise = EventLoop.virtual().makePromise(of: Int.self)
                var key = pthread_key_t()
                // Made after the loop's own key, whose turn is before.
                unsafe pthread_key_create(&key) { unsafe Unmanaged<Promise<Int>>.fromOpaque($0!).release() }
                unsafe pthread_setspecific(key, Unmanaged.passRetained(promise).toOpaque())
            }.get()
        }
    }

    @Test(
        "a thread that gets the identity of one that has ended does not get its loops",
        arguments: Driver.allCases)
    func reusedIdentity(driver: Driver) async {
        await #expect(processExitsWith: .success) { [driver] in
            let (loops, threads) = (SharedRecord<EventLoop>(), SharedRecord<pthread_t>())
            try onPlainThread {
                loops.add(try driver.makeLoop())
                threads.add(pthread_self())
            }.get()
            let loop = loops.entries[0]
            // The system hands stacks out again, and with them identities.
            let isReused = eventually {
                _ = onPlainThread {
                    #expect(!loop.isCurrent)
                    threads.add(pthread_self())
                }
                return threads.entries.last == threads.entries[0]
            }
            #expect(isReused)
            try onPlainThread {
                try loop.run()
                #expect(loop.isCurrent)
                try expect(loop.submit { 1 }, succeedsWith: 1)
                loop.shutdown()
            }.get()
        }
    }
}

/// Runs `body` on a thread of its own, and returns when that has ended, with all that it does at its end.
private func onPlainThread(_ body: @escaping @Sendable () throws -> Void) -> Result<Void, any Error> {
    final class Job: Sendable {
        let body: @Sendable () throws -> Void
        let result = Mutex<Result<Void, any Error>?>(nil)

        init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
    }
    let job = Job(body)
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, nil,
        { job in
            let job = unsafe Unmanaged<Job>.fromOpaque(job!).takeRetainedValue()
            let result = Result { try job.body() }
            job.result.withLock { $0 = result }
            return nil
        }, Unmanaged.passRetained(job).toOpaque())
    precondition(status == 0)
    pthread_join(thread, nil)
    return job.result.withLock { $0! }
}
