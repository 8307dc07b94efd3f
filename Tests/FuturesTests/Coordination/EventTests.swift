import Futures
import FuturesTesting
import Testing

struct EventTests {
    @Test("an event ends the wait of all, each of whom may give up by itself", arguments: Driver.allCases)
    func event(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let event = FutureEvent(on: loop)
            let waits = (0..<3).map { number in event.wait().tap { seen.add(number) } }
            let late = event.wait().timeout(after: .ticks(1))
            expect(late, failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(waits[1].cancel())
            event.set()
            #expect(event.isSet && event.wait().isCompleted)
            try settle(loop)
            #expect(seen.entries == ["0", "2"])
            event.reset()
            #expect(!event.isSet)
            let next = event.wait()
            #expect(!next.isCompleted)
            event.set()
            try loop.run(until: next)
        }
    }

    @Test(
        "waiting for an event that is gone fails, and so it does after a shutdown", arguments: Driver.allCases
    )
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            expect(FutureEvent(on: loop).wait(), failsWith: FutureError.closed("event"))
            let event = FutureEvent(on: loop)
            let wait = event.wait()
            loop.shutdown()
            #expect("\(wait)" == "Future(failure: \(FutureError.shutDown))")
            #expect("\(event.wait().ignoreFailure())" == "Future(failure: \(FutureError.shutDown))")
        }
    }

    @Test("an outcome is held until an event, failures too, cancellation not", arguments: Driver.allCases)
    func hold(driver: Driver) throws {
        try withLoop(driver) { loop in
            let event = FutureEvent(on: loop)
            let (value, error) = (
                loop.succeeded(1).delay(until: event),
                loop.failed(Failure(), of: Int.self).delay(until: event)
            )
            let cancelled = loop.failed(CancellationError(), of: Int.self).delay(until: event)
            let unwanted = loop.succeeded(1).delay(until: event)
            try settle(loop)
            #expect(!value.isCompleted && !error.isCompleted)
            expectCancelled(cancelled)
            #expect(unwanted.cancel())
            event.set()
            try expect(value, succeedsWith: 1)
            expect(error, failsWith: Failure())
            try expect(loop.succeeded(2).delay(until: event), succeedsWith: 2)
        }
    }

    @Test(
        "a condition wakes one or all, and forgets a signal for which nobody waits",
        arguments: Driver.allCases)
    func condition(driver: Driver) throws {
        try withLoop(driver) { loop in
            let condition = FutureCondition(on: loop)
            condition.signal()
            let waits = (0..<4).map { _ in condition.wait() }
            #expect(condition.waitingCount == 4)
            #expect(waits[0].cancel())
            condition.signal()
            #expect(waits.map(\.isCompleted) == [true, true, false, false])
            condition.broadcast()
            #expect(waits.allSatisfy(\.isCompleted) && condition.waitingCount == 0)
            let broken = condition.wait()
            condition.break(Failure(1))
            expect(broken, failsWith: Failure(1))
            expect(condition.wait(), failsWith: Failure(1))
        }
    }

    @Test("waiting until something is so ends only then", arguments: Driver.allCases)
    func predicate(driver: Driver) throws {
        try withLoop(driver) { loop in
            let condition = FutureCondition(on: loop)
            var level = 0
            try loop.run(until: condition.wait { level == 0 })
            let high = condition.wait { level > 1 }
            expect(condition.wait { throw Failure(1) }, failsWith: Failure(1))
            let broken = condition.wait {
                if level > 0 { throw Failure(2) }
                return false
            }
            level = 1
            condition.broadcast()
            expect(broken, failsWith: Failure(2))
            #expect(!high.isCompleted)
            level = 2
            condition.broadcast()
            try loop.run(until: high)
            var dropped: FutureCondition? = FutureCondition(on: loop)
            let stranded = dropped!.wait { false }
            dropped!.signal()
            dropped = nil
            expect(stranded, failsWith: FutureError.closed("condition"))
        }
    }

    @Test("a latch opens when it has been counted down", arguments: Driver.allCases)
    func latch(driver: Driver) throws {
        try withLoop(driver) { loop in
            let latch = FutureLatch(count: 3, on: loop)
            let opened = latch.wait()
            latch.countDown()
            #expect(latch.count == 2 && !opened.isCompleted)
            latch.countDown(by: 5)
            #expect(latch.count == 0)
            try loop.run(until: opened)
            latch.countDown()
            try loop.run(until: latch.wait())
            try loop.run(until: FutureLatch(count: 0, on: loop).wait())
        }
    }

    @Test(
        "a barrier lets go of those who have arrived when there are enough, round by round",
        arguments: Driver.allCases)
    func barrier(driver: Driver) throws {
        try withLoop(driver) { loop in
            let barrier = FutureBarrier(parties: 3, on: loop)
            for _ in 0..<2 {
                let first = barrier.arrive()
                let gone = barrier.arrive()
                #expect(gone.cancel())
                let second = barrier.arrive()
                #expect(barrier.waitingCount == 2 && !first.isCompleted && !second.isCompleted)
                let third = barrier.arrive()
                #expect(first.isCompleted && second.isCompleted && third.isCompleted)
            }
            #expect(barrier.waitingCount == 0)
            expect(FutureBarrier(parties: 2, on: loop).arrive(), failsWith: FutureError.closed("barrier"))
        }
    }
}
