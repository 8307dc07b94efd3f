import Futures
import FuturesTesting
import Testing

struct FutureReadWriteLockTests {
    @Test("readers share, a writer is alone, and nobody overtakes", arguments: Driver.allCases)
    func readersAndWriters(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let lock = FutureReadWriteLock(on: loop)
            func work(_ name: String) -> () -> Future<Void> {
                {
                    seen.add("+\(name)")
                    return loop.sleep(for: .ticks(2)).map { seen.add("-\(name)") }
                }
            }
            let all = [
                lock.withReading(work("r1")), lock.withReading(work("r2")), lock.withWriting(work("w")),
                lock.withReading(work("r3")),
            ]
            #expect(lock.waitingCount == 2)
            _ = try loop.run(until: Future.all(all))
            #expect(seen.entries == ["+r1", "+r2", "-r1", "-r2", "+w", "-w", "+r3", "-r3"])
            let writer = lock.write()
            let reader = lock.read()
            try loop.run(until: writer).release()
            try loop.run(until: reader).release()
        }
    }

    @Test(
        "a reader that asks again while a writer waits gets the lock, and no other reader does",
        arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let lock = FutureReadWriteLock(on: loop)
            var writer: Future<Int>?
            let outer = lock.withReading {
                writer = lock.withWriting { loop.succeeded(3) }
                #expect(lock.waitingCount == 1)
                return lock.withReading { lock.read().map { permit in permit.release() }.map { 1 } }
            }
            #expect(try loop.run(until: outer) == 1)
            #expect(try loop.run(until: writer!) == 3)

            let permit = try loop.run(until: lock.read())
            let next = lock.write()
            let other = lock.read()
            let inner = lock.read(within: permit)
            let innermost = lock.read(within: inner)
            #expect(lock.waitingCount == 2)
            for held in [permit, inner] {
                held.release()
                try settle(loop)
                #expect(!next.isCompleted)
            }
            innermost.release()
            try loop.run(until: next).release()
            try loop.run(until: other).release()
        }
    }

    @Test("a permit that holds no lock for reading gives no other one", arguments: 0..<4)
    func misuse(way: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [way] in
            let loop = EventLoop.virtual()
            let lock = FutureReadWriteLock(on: loop)
            let permits = [
                try loop.run(until: FutureReadWriteLock(on: loop).read()),
                try loop.run(until: FutureSemaphore(count: 1, on: loop).acquire()),
                try loop.run(until: way == 2 ? lock.write() : lock.read()),
            ]
            if way == 3 { permits[2].release() }
            _ = lock.read(within: permits[min(way, 2)])
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "read(within:) was given a permit that does not hold this lock for reading. Give one that does."
            ))
    }
}
