import Dispatch
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FilePoolTests {
    @Test("one thread runs the jobs in their order")
    func order() throws {
        try withLoop { loop in
            let pool = FilePool(limit: 1, patience: .milliseconds(10))
            let ended = Locked<[Int]>([])
            let last = DispatchSemaphore(value: 0)
            for number in 0..<100 {
                pool.run(
                    RemoteJob(loop.core) { _ in
                        ended.withLock { $0.append(number) }
                        if number == 99 { last.signal() }
                    })
            }
            last.wait()
            #expect(ended.withLock { $0 } == Array(0..<100))
        }
    }

    @Test("no more jobs than the limit run at a time, and each once")
    func limit() throws {
        try withLoop { loop in
            let pool = FilePool(limit: 3, patience: .milliseconds(10))
            let (running, most) = (Counter(), Counter())
            let ended = Locked<[Int]>([])
            let group = DispatchGroup()
            for number in 0..<500 {
                group.enter()
                pool.run(
                    RemoteJob(loop.core) { _ in
                        let count = running.add(1)
                        if count > most.value { most.value = count }
                        ended.withLock { $0.append(number) }
                        running.add(-1)
                        group.leave()
                    })
            }
            group.wait()
            #expect(most.value <= 3 && pool.threadCount <= 3)
            #expect(ended.withLock { $0 }.sorted() == Array(0..<500))
            #expect(eventually { pool.threadCount == 0 })
        }
    }

    @Test("a thread that is idle takes the next job, and one that is idle for long ends")
    func idle() throws {
        try withLoop { loop in
            let threads = Counter()
            func run100Jobs(on pool: FilePool) {
                for _ in 0..<100 {
                    let ended = DispatchSemaphore(value: 0)
                    pool.run(RemoteJob(loop.core) { _ in ended.signal() })
                    ended.wait()
                }
            }
            let patient = FilePool(limit: 4, patience: .seconds(60)) { body in
                threads.add(1)
                return startThreadWithoutSignals(name: "files", body)
            }
            run100Jobs(on: patient)
            #expect(threads.value <= 4 && patient.threadCount == threads.value)
            let (started, ended) = (Counter(), Counter())
            let impatient = FilePool(limit: 4, patience: .microseconds(100)) { body in
                started.add(1)
                return startThreadWithoutSignals(name: "files") {
                    body()
                    ended.add(1)
                }
            }
            run100Jobs(on: impatient)
            #expect(eventually { impatient.threadCount == 0 && ended.value == started.value })
        }
    }

    @Test("a new limit holds at once")
    func newLimit() throws {
        try withLoop { loop in
            let pool = FilePool(limit: 1, patience: .milliseconds(10))
            let (started, gate) = (Counter(), DispatchSemaphore(value: 0))
            for _ in 0..<10 {
                pool.run(
                    RemoteJob(loop.core) { _ in
                        started.add(1)
                        gate.wait()
                    })
            }
            #expect(eventually { started.value == 1 } && pool.waitingCount == 9)
            pool.limit = 4
            #expect(eventually { started.value == 4 } && pool.waitingCount == 6)
            pool.limit = 2
            // Two of the four end, and then two go on.
            for _ in 0..<2 { gate.signal() }
            for _ in 0..<2 { gate.signal() }
            #expect(eventually { started.value == 6 })
            for _ in 0..<6 { gate.signal() }
            #expect(eventually { started.value == 10 && pool.threadCount == 0 })
            #expect(pool.limit == 2)
        }
    }

    @Test("without a thread, the jobs fail with the reason, and their futures with what to do")
    func noThread() throws {
        try withLoop { loop in
            let pool = FilePool(limit: 2) { _ in .wouldBlock }
            let refusals = Locked<[SystemError?]>([])
            let ended = Counter()
            let job = RemoteJob(loop.core) { refusal in
                refusals.withLock { $0.append(refusal as? SystemError) }
            }
            job.whenEnded { ended.add(1) }
            pool.run(job)
            #expect(ended.value == 1 && pool.waitingCount == 0 && pool.threadCount == 0)
            #expect(refusals.withLock { $0 } == [SystemError(.wouldBlock, "pthread_create")])
        }
    }

    @Test(
        "what is opened for a moment is closed before the next thing is opened",
        // A sanitizer opens files of its own.
        .enabled(if: !isSanitized))
    func moments() async {
        await #expect(processExitsWith: .success) {
            try withDirectory { loop, directory, _ in
                try withFreeDescriptors(2) {
                    for _ in 0..<500 {
                        try loop.run(until: directory.makeDirectory("a"))
                        // It is looked at, and then it is open, and a second time for its entries.
                        try loop.run(until: directory.removeTree("a"))
                    }
                }
            }
        }
    }

    @Test("without another thread, a job waits for one that there is")
    func noOtherThread() throws {
        try withLoop { loop in
            let started = Counter()
            let pool = FilePool(limit: 2, patience: .milliseconds(10)) { body in
                started.add(1) == 1 ? startThreadWithoutSignals(name: "files", body) : .wouldBlock
            }
            let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let refusals = Locked<[Bool]>([])
            pool.run(
                RemoteJob(loop.core) { refusal in
                    refusals.withLock { $0.append(refusal != nil) }
                    begun.signal()
                    gate.wait()
                })
            begun.wait()
            pool.run(RemoteJob(loop.core) { refusal in refusals.withLock { $0.append(refusal != nil) } })
            #expect(started.value == 2 && pool.threadCount == 1 && pool.waitingCount == 1)
            gate.signal()
            #expect(eventually { pool.threadCount == 0 })
            #expect(refusals.withLock { $0 } == [false, false])
        }
    }
}
