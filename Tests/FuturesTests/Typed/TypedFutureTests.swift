import Futures
import TestSupport
import Testing

struct TypedFutureTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "a typed promise completes its future with a value, a failure of its type, or as cancelled",
        arguments: Driver.allCases)
    func promise(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<5).map { _ in loop.makePromise(of: Int.self, failingWith: Refusal.self) }
            #expect("\(promises[0].future)" == "TypedFuture(pending)")
            #expect(!promises[0].future.isCompleted && promises[0].future.result == nil)
            #expect(promises[0].succeed(1))
            #expect(promises[1].fail(.refused))
            #expect(promises[2].cancel())
            #expect(promises[3].complete(.success(4)))
            #expect(promises[4].complete(using: promises[1].future))
            for promise in promises { #expect(!promise.succeed(7)) }
            #expect(
                promises.map { "\($0.future)" } == [
                    "TypedFuture(success: 1)", "TypedFuture(failure: refused)", "TypedFuture(cancelled)",
                    "TypedFuture(success: 4)", "TypedFuture(failure: refused)",
                ])
        }
    }

    @Test(
        "a typed future says its failure without a cast: to a switch that needs no default",
        arguments: Driver.allCases)
    func exhaustive(driver: Driver) throws {
        try withLoop(driver) { loop in
            func word(_ result: Result<Int, FutureFailure<Refusal>>?) -> String {
                switch result {
                case nil: "pending"
                case .success: "value"
                case .failure(.failure(.refused)): "refused"
                case .failure(.failure(.tooLate)): "too late"
                case .failure(.cancelled): "cancelled"
                case .failure(.broken): "broken"
                }
            }
            func word(_ result: Result<Int, FutureFailure<Never>>?) -> String {
                switch result {
                case nil: "pending"
                case .success: "value"
                case .failure(.cancelled): "cancelled"
                case .failure(.broken): "broken"
                }
            }
            #expect(word(Typed.failed(.tooLate, on: loop).ignoreFailure().result) == "too late")
            #expect(word(Typed.completed(.failure(.refused), on: loop).ignoreFailure().result) == "refused")
            #expect(word(Typed.succeeded(1, on: loop).result) == "value")
            #expect(word(TypedFuture<Int, Never>.succeeded(1, on: loop).result) == "value")
            let promise = loop.makePromise(of: Int.self, failingWith: Never.self)
            promise.cancel()
            #expect(word(promise.future.result) == "cancelled")
        }
    }

    @Test(
        "a promise released uncompleted breaks its typed future, and so does the end of the loop",
        arguments: Driver.allCases)
    func broken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = {
                loop.makePromise(of: Int.self, failingWith: Refusal.self, file: "here", line: 7).future
            }()
            let broken = FutureError.brokenPromise(file: "here", line: 7)
            #expect("\(future)" == "TypedFuture(broken: \(broken))")
            expect(future.erased, failsWith: broken)
            try expect(future.recover { _ in 1 }, completesAs: "broken: \(broken)")
            let pending = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let derived = pending.future.map { $0 + 1 }
            loop.shutdown()
            #expect("\(derived)" == "TypedFuture(broken: \(FutureError.shutDown))")
        }
    }

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

    @Test(
        "a request to cancel a typed future reaches whoever holds the promise, who may answer with a result",
        arguments: Driver.allCases)
    func cancellation(driver: Driver) throws {
        try withLoop(driver) { loop in
            for (answer, outcome) in [
                (nil, "cancelled"), (.success(1), "success: 1"), (.failure(.tooLate), "failure: tooLate"),
            ] as [(Result<Int, Refusal>?, String)] {
                let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
                promise.onCancelRequest { answer }
                let derived = promise.future.map { $0 }
                #expect(derived.cancel())
                try expect(derived, completesAs: outcome)
                #expect(!promise.succeed(7))
            }
            let alone = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            #expect(alone.future.map { $0 }.cancel())
            #expect("\(alone.future)" == "TypedFuture(cancelled)")
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
