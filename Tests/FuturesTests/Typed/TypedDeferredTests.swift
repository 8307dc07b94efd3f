import Futures
import Testing

struct TypedDeferredTests {
    private typealias Recipe = TypedDeferred<Int, Refusal>

    @Test(
        "a typed recipe does nothing until it is started, and its work anew at each start",
        arguments: Driver.allCases)
    func cold(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let recipe = Recipe(on: loop) { complete in
                runs += 1
                complete(runs < 3 ? .success(runs) : .failure(.refused))
            }
            #expect(runs == 0)
            try expect(recipe.start(), completesAs: "success: 1")
            try expect(recipe.start(), completesAs: "success: 2")
            try expect(recipe.start(), completesAs: "failure: refused")
            #expect(runs == 3)
        }
    }

    @Test("a second completion of a typed recipe's operation changes nothing", arguments: Driver.allCases)
    func completedTwice(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let recipe = Recipe(on: loop) { complete in
                complete(.success(1))
                complete(.success(2))
                complete(.failure(.refused))
            }
            recipe.start().whenComplete { seen.add("\($0)") }
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries.count == 1 && seen.entries[0].hasPrefix("success(1"))
        }
    }

    @Test("an operation that releases its closure uncalled breaks the future", arguments: Driver.allCases)
    func forgotten(driver: Driver) throws {
        try withLoop(driver) { loop in
            let recipe = Recipe(on: loop, operation: { _ in }, file: "here", line: 3)
            try expect(
                recipe.start(), completesAs: "broken: \(FutureError.brokenPromise(file: "here", line: 3))")
        }
    }

    @Test(
        "map, flatMap, mapError and recover of a typed recipe compose without starting it",
        arguments: Driver.allCases)
    func composed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let one = Recipe(on: loop) { complete in
                seen.add("one")
                loop.submit {}.whenSuccess { complete(.success(1)) }
            }
            func next(_ value: Int) -> Recipe {
                Recipe(on: loop) { complete in
                    seen.add("next")
                    complete(value > 1 ? .failure(.refused) : .success(value + 1))
                }
            }
            let two = one.flatMap(next)
            let refused = two.flatMap(next).transform { $0.mapError(Refused.init) }
            let safe = refused.transform { $0.recover { _ in 7 } }.map { $0 * 2 }
            #expect(seen.entries.isEmpty)
            try expect(two.start(), completesAs: "success: 2")
            try expect(refused.start(), completesAs: "failure: Refused(refused)")
            try expect(safe.start(), completesAs: "success: 14")
            #expect(seen.entries == ["one", "next", "one", "next", "next", "one", "next", "next"])
            try expect(Recipe(result: .success(1), on: loop).start(), completesAs: "success: 1")
            try expect(Recipe(result: .failure(.tooLate), on: loop).start(), completesAs: "failure: tooLate")
            try expect(Recipe(result: .success(2), on: loop).start(), completesAs: "success: 2")
        }
    }

    @Test("cancelling one start of a typed recipe leaves the others alone", arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            var completions: [(Result<Int, Refusal>) -> Void] = []
            let recipe = Recipe(on: loop) { completions.append($0) }
            let (first, second) = (recipe.map { $0 + 1 }.start(), recipe.start())
            #expect(first.cancel())
            for complete in completions { complete(.success(1)) }
            try expect(first, completesAs: "cancelled")
            try expect(second, completesAs: "success: 1")
        }
    }
}
