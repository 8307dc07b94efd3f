import Futures
import Testing

struct WaitLineTests {
    @Test("a token ends the wait for a permit, a place and an element", arguments: Driver.allCases)
    func coordination(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let semaphore = FutureSemaphore(count: 1, on: loop)
            let permit = semaphore.tryAcquire()
            let channel = FutureChannel<Int>(capacity: 0, on: loop)
            let (acquiring, push) = (
                semaphore.acquire(token: source.token), channel.send(1, token: source.token)
            )
            #expect(semaphore.waitingCount == 1 && channel.waitingSends == 1)
            source.cancel()
            #expect("\(acquiring), \(push)" == "Future(cancelled), Future(cancelled)")
            #expect(semaphore.waitingCount == 0 && channel.waitingSends == 0)

            let other = CancellationSource(on: loop)
            let pop = channel.receive(token: other.token)
            other.cancel()
            #expect("\(pop)" == "Future(cancelled)" && channel.waitingReceives == 0)

            permit?.release()
            expectCancelled(semaphore.acquire(token: source.token))
            #expect(semaphore.available == 1)
            let pushed = channel.send(2)
            expectCancelled(channel.receive(token: source.token))
            expectCancelled(channel.send(3, token: source.token))
            #expect(channel.tryReceive() == 2 && channel.tryReceive() == nil && pushed.isCompleted)
        }
    }

    @Test(
        "a token takes who waits for a lock, an event or the others out of the line",
        arguments: Driver.allCases)
    func lines(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let (mutex, lock) = (FutureMutex(on: loop), FutureReadWriteLock(on: loop))
            let (event, latch) = (FutureEvent(on: loop), FutureLatch(count: 1, on: loop))
            let (barrier, condition) = (FutureBarrier(parties: 2, on: loop), FutureCondition(on: loop))
            var permits: [Permit?] = [mutex.tryLock()]
            lock.write().whenSuccess { permits.append($0) }
            try settle(loop)
            func refuse() -> Future<Void> {
                Issue.record("a body was run")
                return loop.succeeded()
            }
            func wait() -> [Future<Void>] {
                let token = source.token
                return [
                    mutex.lock(token: token).asVoid(), mutex.withLock(token: token, refuse),
                    lock.read(token: token).asVoid(), lock.write(token: token).asVoid(),
                    lock.withReading(token: token, refuse), lock.withWriting(token: token, refuse),
                    event.wait(token: token), latch.wait(token: token), barrier.arrive(token: token),
                    condition.wait(token: token), condition.wait(token: token) { false },
                ]
            }
            let waiting = wait()
            #expect(mutex.waitingCount == 2 && lock.waitingCount == 4)
            #expect(barrier.waitingCount == 1 && condition.waitingCount == 2)
            source.cancel()
            try settle(loop)
            for future in waiting + wait() { #expect("\(future)" == "Future(cancelled)") }
            #expect(mutex.waitingCount == 0 && lock.waitingCount == 0)
            #expect(barrier.waitingCount == 0 && condition.waitingCount == 0)

            event.set()
            latch.countDown()
            condition.break(Failure())
            let over = [
                event.wait(token: source.token), latch.wait(token: source.token),
                condition.wait(token: source.token), condition.wait(token: source.token) { true },
                condition.wait(token: source.token) { throw Failure() },
            ]
            for future in over { #expect("\(future)" == "Future(cancelled)") }
            let arrived = barrier.arrive()
            _ = barrier.arrive(token: source.token)
            #expect(!arrived.isCompleted && barrier.waitingCount == 1)
            for permit in permits { permit?.release() }
            expectCancelled(mutex.lock(token: source.token))
            #expect(!mutex.isLocked)
        }
    }
}
