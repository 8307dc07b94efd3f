import Testing

@testable import Futures

struct ScheduleTests {
    @Test("schedule gives what its body returns or throws", arguments: Driver.allCases)
    func schedule(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.schedule(after: .ticks(1)) { 5 }.future, succeedsWith: 5)
            expect(loop.schedule(after: .zero) { throw Failure(6) }.future, failsWith: Failure(6))
            expectCancelled(loop.schedule(after: .zero) { throw CancellationError() }.future)
        }
    }

    @Test("an instant that has passed is due in the next turn", arguments: Driver.allCases)
    func past(driver: Driver) throws {
        try withLoop(driver) { loop in
            try pass(.ticks(1), on: loop)
            let past = loop.now.advanced(by: .seconds(-1))
            try expect(loop.schedule(at: past) { 1 }.future, succeedsWith: 1)
        }
    }

    @Test(
        "the body of a task runs in the context that was given", arguments: Driver.allCases,
        [LocalContext.loop, .immediate, .nextTurn, .whenIdle])
    func contexts(driver: Driver, context: LocalContext) throws {
        try withLoop(driver) { loop in
            var seen: [LocalContext] = []
            loop.schedule(after: .zero, on: context) { seen.append(loop.currentContext) }
            loop.schedule(at: loop.now, on: context) { seen.append(loop.currentContext) }
            try loop.run()
            #expect(seen == [context, context])
        }
    }

    @Test("cancelling a task releases its body at once, whoever waits", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func schedule() -> ScheduledTask<Void> {
                let witness = Witness()
                captured = witness
                return loop.schedule(after: .seconds(100)) { witness.look() }
            }
            let seen = Record()
            let task = schedule()
            task.future.whenCancelled { seen.add("cancelled") }
            #expect(!task.future.cancel())
            #expect(task.cancel())
            #expect(captured == nil)
            #expect(loop.statistics.timers == 0)
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
            #expect(!task.cancel())
        }
    }

    @Test("the body of a task is released when it has run", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func schedule() -> ScheduledTask<Void> {
                let witness = Witness()
                captured = witness
                return loop.schedule(after: .ticks(1)) { witness.look() }
            }
            let task = schedule()
            try loop.run()
            #expect(captured == nil)
            #expect(task.future.isCompleted)
        }
    }

    @Test("instants count, compare and saturate", arguments: Driver.allCases)
    func instants(driver: Driver) throws {
        try withLoop(driver) { loop in
            let now = loop.now
            let later = now.advanced(by: .seconds(2))
            #expect(now < later)
            #expect(now.duration(to: later) == .seconds(2))
            #expect(later.duration(to: now) == .seconds(-2))
            #expect(later.advanced(by: .seconds(-2)) == now)
            let (first, last) = (now.advanced(by: .seconds(Int64.min)), now.advanced(by: .seconds(Int64.max)))
            #expect(first <= now && now < last)
            #expect(first.nanoseconds == 0 && last.nanoseconds == .max)
            #expect(first.advanced(by: .seconds(-1)) == first)
            #expect(last.advanced(by: .seconds(1)) == last)
            #expect(loop.now >= now)
        }
    }
}
