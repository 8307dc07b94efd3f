import Futures
import Testing

struct FutureEventTests {
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
}
