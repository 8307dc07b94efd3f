import Futures
import TestSupport
import Testing

struct TypedFutureTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "a typed failure that nobody hears of is reported once, as an untyped one is",
        arguments: Driver.allCases)
    func unheard(driver: Driver) throws {
        try withLoop(driver) { loop in
            let reported = Record()
            loop.onUnhandledFailure = { reported.add($0) }
            _ = Typed.failed(.refused, on: loop)
            _ = Typed.failed(.tooLate, on: loop).map { $0 + 1 }
            Typed.failed(.refused, on: loop).whenSuccess { _ in }
            loop.makePromise(of: Int.self, failingWith: Refusal.self).future.whenFailure { _ in }
            try settle(loop)
            try settle(loop)
            #expect(reported.entries.count == 4)
            let typed = reported.entries.filter { !$0.contains("promise") }
            #expect(typed.sorted() == ["refused", "refused", "tooLate"])
            #expect(reported.entries.contains { $0.contains("was dropped without being completed") })

            Typed.failed(.refused, on: loop).whenFailure { _ in }
            Typed.failed(.refused, on: loop).ignoreFailure()
            Typed.failed(.refused, on: loop).whenComplete { _ in }
            _ = Typed.failed(.refused, on: loop).recover { _ in 1 }
            _ = TypedFuture<[Int], Refusal>.failed(.refused, on: loop).ignoreFailure()
            let cancelled = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            cancelled.cancel()
            try settle(loop)
            #expect(reported.entries.count == 4)
            loop.onUnhandledFailure = nil
        }
    }

    @Test(
        "the failure of a long typed chain that nobody hears of is reported, and all of it freed",
        arguments: Driver.allCases)
    func deep(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            var reported = 0
            loop.onUnhandledFailure = { _ in reported += 1 }
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            var last = promise.future
            for _ in 0..<largeCount { last = last.map { $0 + 1 } }
            last = Typed.succeeded(0, on: loop)
            promise.fail(.refused)
            try loop.run()
            #expect(reported == 1)
            #expect(last.isCompleted)
            loop.onUnhandledFailure = nil
        }
    }

    @Test(
        "callbacks of a typed future get its value, its failure, or that it was cancelled, in order",
        arguments: Driver.allCases)
    func callbacks(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func watch(_ promise: TypedPromise<Int, Refusal>) {
                promise.future.whenComplete { seen.add($0) }
                promise.future.whenSuccess { seen.add("value \($0)") }
                promise.future.whenFailure { seen.add("failure \($0)") }
                promise.future.whenCancelled { seen.add("no more") }
            }
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self, failingWith: Refusal.self) }
            promises.forEach(watch)
            promises[0].succeed(1)
            promises[1].fail(.refused)
            promises[2].cancel()
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(
                seen.entries == [
                    "success(1)", "value 1", "failure(refused)", "failure refused", "failure(cancelled)",
                    "no more",
                ])
        }
    }
}

extension Record {
    fileprivate func add(_ result: Result<Int, FutureFailure<Refusal>>) {
        switch result {
        case .success(let value): add("success(\(value))")
        case .failure(let failure): add("failure(\(failure))")
        }
    }
}
