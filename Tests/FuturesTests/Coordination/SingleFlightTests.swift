import Futures
import FuturesTesting
import Testing

struct SingleFlightTests {
    @Test(
        "who asks while work is under way shares it; who asks afterwards starts it anew",
        arguments: Driver.allCases)
    func shares(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let flight = SingleFlight<Int>(on: loop)
            func perform() -> Future<Int> {
                flight.perform {
                    runs += 1
                    return loop.sleep(for: .ticks(1)).map { runs }
                }
            }
            let first = perform()
            #expect(flight.isPerforming && runs == 1)
            try expect(Future.all([first, perform()]), succeedsWith: [1, 1])
            #expect(!flight.isPerforming)
            try expect(perform(), succeedsWith: 2)
        }
    }

    @Test(
        "cancelling the only caller cancels the work, and the next call runs it again",
        arguments: Driver.allCases)
    func cancelSole(driver: Driver) throws {
        try withLoop(driver) { loop in
            let flight = SingleFlight<Int>(on: loop)
            let work = loop.makePromise(of: Int.self)
            let only = flight.perform { work.future }.map { $0 }
            #expect(only.cancel())
            #expect("\(work.future)" == "Future(cancelled)" && !flight.isPerforming)
            try expect(flight.perform { loop.succeeded(4712) }, succeedsWith: 4712)
        }
    }

    @Test(
        "cancelling one of two callers changes nothing for the other, nor for a third",
        arguments: Driver.allCases)
    func cancelOne(driver: Driver) throws {
        try withLoop(driver) { loop in
            let flight = SingleFlight<Int>(on: loop)
            let work = loop.makePromise(of: Int.self)
            let unwanted = flight.perform { work.future }
            let second = flight.perform { loop.succeeded(0) }
            #expect(unwanted.cancel())
            let third = flight.perform { loop.succeeded(0) }
            #expect(!work.future.isCompleted)
            work.succeed(4711)
            try expect(Future.all([second, third]), succeedsWith: [4711, 4711])
            expectCancelled(unwanted)
        }
    }

    @Test("work that ends, throws or fails at once is over at once", arguments: Driver.allCases)
    func synchronous(driver: Driver) throws {
        try withLoop(driver) { loop in
            let flight = SingleFlight<Int>(on: loop)
            let done = flight.perform { loop.succeeded(1) }
            #expect(!flight.isPerforming && done.isCompleted)
            expect(flight.perform { throw Failure(2) }, failsWith: Failure(2))
            expect(flight.perform { loop.failed(Failure(3)) }, failsWith: Failure(3))
            #expect(!flight.isPerforming)
            let cyclic = flight.perform { flight.perform { loop.succeeded(4) }.map { $0 } }
            expect(cyclic, failsWith: FutureError.cycle)
        }
    }

    @Test(
        "with coalescing, work starts in the next turn for all who asked in this one",
        arguments: Driver.allCases)
    func coalescing(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let flight = SingleFlight<Int>(coalescing: true, on: loop)
            func perform() -> Future<Int> {
                flight.perform {
                    runs += 1
                    return loop.succeeded(runs)
                }
            }
            let first = perform()
            let second = loop.submit { perform() }.flatMap { $0 }
            #expect(runs == 0)
            try expect(Future.all([first, second]), succeedsWith: [1, 1])
            let unwanted = perform()
            #expect(unwanted.cancel())
            try pass(.ticks(1), on: loop)
            #expect(runs == 1 && !flight.isPerforming)
        }
    }

    @Test("each key has work of its own", arguments: Driver.allCases)
    func keys(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs: [String] = []
            let flights = KeyedSingleFlight<String, Int>(on: loop)
            func perform(_ key: String) -> Future<Int> {
                flights.perform(key) {
                    runs.append(key)
                    return loop.sleep(for: .ticks(1)).map { key.count }
                }
            }
            let all = Future.all([perform("a"), perform("bb"), perform("a")])
            #expect(flights.count == 2 && flights.isPerforming("a") && !flights.isPerforming("c"))
            try expect(all, succeedsWith: [1, 2, 1])
            #expect(runs == ["a", "bb"] && flights.count == 0)
        }
    }

    @Test("work goes on when nobody asks for it any more, or its owner is gone", arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            var flight: SingleFlight<Int>? = SingleFlight(on: loop)
            let work = loop.makePromise(of: Int.self)
            let caller = flight!.perform { work.future }
            flight = nil
            work.succeed(1)
            try expect(caller, succeedsWith: 1)
            flight = SingleFlight(on: loop)
            var promise: Promise<Int>? = loop.makePromise(file: "here", line: 1)
            let broken = flight!.perform { [future = promise!.future] in future }
            promise = nil
            expect(broken, failsWith: FutureError.brokenPromise(file: "here", line: 1))
            #expect(!flight!.isPerforming)
        }
    }
}
