import Futures
import TestSupport
import Testing

struct TypedMapTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "map and flatMap of a typed future change the value, or throw its kind of failure",
        arguments: Driver.allCases)
    func map(driver: Driver) throws {
        try withLoop(driver) { loop in
            let one = Typed.succeeded(1, on: loop)
            func refuse(_ value: Int) throws(Refusal) -> Int { throw .refused }
            func deferring(_ value: Int) throws(Refusal) -> Typed { throw .tooLate }
            try expect(one.map { $0 + 1 }, completesAs: "success: 2")
            try expect(one.map(refuse), completesAs: "failure: refused")
            try expect(one.map(refuse).map { _ in Issue.record("skipped") }, completesAs: "failure: refused")
            try expect(one.flatMap { Typed.succeeded($0 + 2, on: loop) }, completesAs: "success: 3")
            try expect(one.flatMap { _ in Typed.failed(.refused, on: loop) }, completesAs: "failure: refused")
            try expect(one.flatMap(deferring), completesAs: "failure: tooLate")
            try expect(
                one.map { value throws(Refusal) in
                    guard value > 1 else { throw .tooLate }
                    return value
                }, completesAs: "failure: tooLate")
        }
    }

    @Test(
        "mapError, flatMapError and recover change the type of failure, down to none",
        arguments: Driver.allCases)
    func errors(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (one, failed) = (Typed.succeeded(1, on: loop), Typed.failed(.refused, on: loop))
            let mapped: TypedFuture<Int, Refused> = failed.mapError(Refused.init)
            try expect(mapped, completesAs: "failure: Refused(refused)")
            let chained = failed.mapError(to: Refused.self) { .init($0) }.map { $0 + 1 }.flatMap {
                .succeeded($0, on: loop)
            }
            try expect(chained, completesAs: "failure: Refused(refused)")
            let never: TypedFuture<Int, Never> = failed.recover { $0 == .refused ? 2 : 3 }
            try expect(never, completesAs: "success: 2")
            try expect(one.recover { _ in 3 }, completesAs: "success: 1")
            let again = failed.recover { (failure) throws(Refused) in throw Refused(failure) }
            try expect(again, completesAs: "failure: Refused(refused)")
            let other: TypedFuture<Int, Refused> = failed.flatMapError { .failed(Refused($0), on: loop) }
            try expect(other, completesAs: "failure: Refused(refused)")
            try expect(
                failed.flatMapError { _ in .succeeded(4, on: loop) } as TypedFuture<Int, Never>,
                completesAs: "success: 4")
            try expect(
                one.flatMapError { _ in .succeeded(4, on: loop) } as TypedFuture<Int, Never>,
                completesAs: "success: 1")
            let wider: TypedFuture<Int, Refusal> = never.promoteError()
            try expect(wider.flatMap { _ in failed }, completesAs: "failure: refused")
            try expect(
                failed.mapResult { result in (try? result.get()) == nil ? 5 : 6 } as TypedFuture<Int, Never>,
                completesAs: "success: 5")
            let handled = failed.flatMapResult { result in
                TypedFuture<String, Never>.succeeded("\(result)", on: loop)
            }
            #expect(try loop.run(until: handled.erased).contains("refused"))
        }
    }

    @Test(
        "cancellation and a broken promise pass by the handlers of typed failures", arguments: Driver.allCases
    )
    func outside(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cancelled = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            cancelled.cancel()
            let broken = {
                loop.makePromise(of: Int.self, failingWith: Refusal.self, file: "here", line: 1).future
            }()
            let text = "broken: \(FutureError.brokenPromise(file: "here", line: 1))"
            for (future, outcome) in [(cancelled.future, "cancelled"), (broken, text)] {
                func refuse<Value>(_ ignored: Refusal) -> Value { fatalError("called") }
                try expect(future.recover { refuse($0) as Int }, completesAs: outcome)
                try expect(future.mapError { refuse($0) as Refused }, completesAs: outcome)
                try expect(future.flatMapError { refuse($0) as Typed }, completesAs: outcome)
                try expect(future.tapError { refuse($0) }, completesAs: outcome)
            }
        }
    }

    @Test(
        "tap and always of a typed future run in between and pass the outcome on", arguments: Driver.allCases)
    func tap(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let one = Typed.succeeded(1, on: loop).tap { seen.add($0) }.always { seen.add("always") }
            try expect(one, completesAs: "success: 1")
            let failed = Typed.failed(.refused, on: loop).tap { seen.add($0) }.tapError { seen.add($0) }
            try expect(failed.always { seen.add("always") }, completesAs: "failure: refused")
            let replaced = one.tap { _ throws(Refusal) in throw .tooLate }
            try expect(replaced, completesAs: "failure: tooLate")
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let watched = promise.future.always { seen.add("always") }
            watched.cancel()
            try expect(watched, completesAs: "cancelled")
            #expect(seen.entries == ["1", "always", "refused", "always", "always"])
        }
    }

    @Test(
        "a loop of typed flatMaps runs in constant memory, and a long typed chain fails without recursion",
        arguments: Driver.allCases)
    func long(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            var (left, peak) = (20_000, 0)
            func step() -> TypedFuture<Int, Refusal> {
                peak = max(peak, loop.statistics.futures)
                left -= 1
                let next = loop.submit { left }.typed(Refusal.self) { _ in .refused }
                return left == 0 ? next : next.flatMap { _ in step() }
            }
            try expect(step(), completesAs: "success: 0")
            #expect(peak < 5000)
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            var last = promise.future
            for _ in 0..<largeCount { last = last.map { $0 + 1 } }
            promise.fail(.refused)
            try expect(last, completesAs: "failure: refused")
        }
    }
}
