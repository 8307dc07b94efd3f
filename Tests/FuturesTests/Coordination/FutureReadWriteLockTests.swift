import Futures
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
}
