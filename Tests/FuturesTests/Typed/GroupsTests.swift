import Futures
import Testing

struct GroupsTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    func promises(_ count: Int, on loop: EventLoop) -> [TypedPromise<Int, Refusal>] {
        (0..<count).map { _ in loop.makePromise(of: Int.self, failingWith: Refusal.self) }
    }

    @Test("all of typed futures gathers the values in order", arguments: Driver.allCases)
    func all(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = promises(3, on: loop)
            let all = TypedFuture.all(promises.map(\.future))
            for (index, promise) in promises.enumerated().reversed() { promise.succeed(index) }
            try expect(all, completesAs: "success: [0, 1, 2]")
            try expect(Typed.all([], on: loop), completesAs: "success: []")
        }
    }

    @Test(
        "all of typed futures ends with the first failure, and cancels the others", arguments: Driver.allCases
    )
    func allFails(driver: Driver) throws {
        try withLoop(driver) { loop in
            var promises = promises(3, on: loop)
            let all = Typed.all(promises.map(\.future))
            promises[1].fail(.refused)
            try expect(all, completesAs: "failure: refused")
            let cancelled = promises.count { "\($0.future)" == "TypedFuture(cancelled)" }
            #expect(cancelled == 2)

            promises = self.promises(2, on: loop)
            let kept = Typed.all(promises.map(\.future), cancelRemaining: false)
            promises[0].cancel()
            try expect(kept, completesAs: "cancelled")
            #expect(promises[1].succeed(1))
        }
    }

    @Test("all of typed futures may cancel the others unless one was cancelled", arguments: Driver.allCases)
    func cancelOnFailure(driver: Driver) throws {
        try withLoop(driver) { loop in
            let kept = promises(2, on: loop)
            let cancelled = Typed.all(kept.map(\.future), cancelRemaining: .onFailure)
            kept[0].cancel()
            try expect(cancelled, completesAs: "cancelled")
            #expect(kept[1].succeed(1))

            let others = promises(2, on: loop)
            let failed = Typed.all(others.map(\.future), cancelRemaining: .onFailure)
            others[0].fail(.refused)
            try expect(failed, completesAs: "failure: refused")
            #expect(!others[1].succeed(1))
        }
    }

    @Test("and, zip and race of typed futures", arguments: Driver.allCases)
    func pairs(driver: Driver) throws {
        try withLoop(driver) { loop in
            let name = TypedFuture<String, Refusal>.succeeded("a", on: loop)
            let one = Typed.succeeded(1, on: loop)
            try expect(one.and(name), completesAs: "success: (1, \"a\")")
            try expect(name.and(one), completesAs: "success: (\"a\", 1)")
            let late = self.promises(2, on: loop)
            let reversed = late[0].future.and(late[1].future)
            for (number, promise) in late.enumerated().reversed() { promise.succeed(number) }
            try expect(reversed, completesAs: "success: (0, 1)")
            let promises = promises(2, on: loop)
            let both = promises[0].future.and(promises[1].future)
            promises[1].fail(.tooLate)
            try expect(both, completesAs: "failure: tooLate")
            #expect("\(promises[0].future)" == "TypedFuture(cancelled)")

            let racers = self.promises(2, on: loop)
            let race = Typed.race(racers.map(\.future))
            racers[1].fail(.refused)
            try expect(race, completesAs: "failure: refused")
            #expect("\(racers[0].future)" == "TypedFuture(cancelled)")
            let none = FutureError.invalidArgument("race was given no futures; give it at least one")
            try expect(Typed.race([], on: loop), completesAs: "broken: \(none)")
        }
    }
}
