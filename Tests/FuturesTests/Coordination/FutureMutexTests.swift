import Futures
import Testing

struct FutureMutexTests {
    @Test("a mutex holds its lock across callbacks", arguments: Driver.allCases)
    func mutex(driver: Driver) throws {
        try withLoop(driver) { loop in
            let mutex = FutureMutex(on: loop)
            var balance = 100
            func withdraw(_ amount: Int) -> Future<Bool> {
                mutex.withLock {
                    let seen = balance
                    return loop.sleep(for: .ticks(1)).map {
                        guard seen >= amount else { return false }
                        balance = seen - amount
                        return true
                    }
                }
            }
            try expect(Future.all([60, 60, 40].map(withdraw)), succeedsWith: [true, false, true])
            #expect(balance == 0 && !mutex.isLocked)
            let permit = try #require(mutex.tryLock())
            #expect(mutex.isLocked && mutex.tryLock() == nil)
            let next = mutex.lock()
            #expect(mutex.waitingCount == 1)
            permit.release()
            try loop.run(until: next).release()
            #expect(!mutex.isLocked)
        }
    }
}
