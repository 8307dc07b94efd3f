import Futures
import Testing

struct TimeoutTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "timeout of a typed future fails with what its closure returns when the time is up",
        arguments: Driver.allCases)
    func timeout(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = GroupsTests().promises(3, on: loop)
            let late = promises[0].future.timeout(after: .ticks(1)) { .tooLate }
            try expect(late, completesAs: "failure: tooLate")
            #expect("\(promises[0].future)" == "TypedFuture(cancelled)")
            let left = promises[1].future.timeout(after: .ticks(1), cancellingSource: false) { .tooLate }
            try expect(left, completesAs: "failure: tooLate")
            #expect(promises[1].succeed(1))
            let inTime = promises[2].future.timeout(after: .seconds(100)) { .tooLate }
            #expect(loop.statistics.timers == 1)
            promises[2].fail(.refused)
            try expect(inTime, completesAs: "failure: refused")
            #expect(loop.statistics.timers == 0)
            try expect(
                Typed.succeeded(1, on: loop).timeout(after: .zero) { .tooLate }, completesAs: "success: 1")
            let negative = Typed.succeeded(1, on: loop).timeout(after: .seconds(-1)) { .tooLate }
            let text = "a delay of \(Duration.seconds(-1)) is negative; give zero or more"
            try expect(negative, completesAs: "broken: \(text)")
            let pending = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let cancelled = pending.future.timeout(after: .seconds(100)) { .tooLate }
            #expect(cancelled.cancel())
            try expect(cancelled, completesAs: "cancelled")
            #expect(!pending.succeed(1))
        }
    }
}
