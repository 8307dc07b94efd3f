import Futures
import Testing

struct FutureConditionTests {
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
}
