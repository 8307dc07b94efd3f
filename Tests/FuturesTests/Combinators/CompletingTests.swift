import Futures
import Testing

struct CompletingTests {
    /// What a user's own type may look like.
    private enum Reply: Completing {
        case answer(Int)
        case busy, gone
        case later(Future<Int>)

        var completion: FutureCompletion<Int> {
            switch self {
            case .answer(let number): .success(number)
            case .busy: .failure(Failure(1))
            case .gone: .cancelled
            case .later(let future): .using(future)
            }
        }
    }

    @Test("flatMap's closure may return any type that says how to complete", arguments: Driver.allCases)
    func flatMap(driver: Driver) throws {
        try withLoop(driver) { loop in
            let one = loop.succeeded(1)
            try expect(one.flatMap { Reply.answer($0 + 1) }, succeedsWith: 2)
            expect(one.flatMap { _ in Reply.busy }, failsWith: Failure(1))
            expectCancelled(one.flatMap { _ in Reply.gone })
            try expect(one.flatMap { value in Reply.later(loop.submit { value + 2 }) }, succeedsWith: 3)
            try expect(one.flatMap { Result<Int, Failure>.success($0 + 3) }, succeedsWith: 4)
            expect(one.flatMap { Result<Int, Failure>.failure(Failure($0)) }, failsWith: Failure(1))
            let chosen = one.flatMap { $0 > 1 ? .success("large") : FutureCompletion.cancelled }
            expectCancelled(chosen)
            expect(one.flatMap { _ -> Reply in throw Failure(2) }, failsWith: Failure(2))
        }
    }

    @Test("flatMapResult and flatMapError take the same types", arguments: Driver.allCases)
    func otherMaps(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(4), of: Int.self)
            try expect(failed.flatMapResult { Reply.answer($0.isSuccess ? 0 : 5) }, succeedsWith: 5)
            expectCancelled(failed.flatMapResult { _ in Reply.gone })
            try expect(failed.flatMapError { _ in Reply.later(loop.succeeded(6)) }, succeedsWith: 6)
            expectCancelled(failed.flatMapError { _ in FutureCompletion.cancelled })
            expect(failed.flatMapError { Result<Int, any Error>.failure($0) }, failsWith: Failure(4))
            try expect(loop.succeeded(1).flatMapError { _ in Reply.gone }, succeedsWith: 1)
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            expectCancelled(cancelled.flatMapError { _ in Reply.answer(7) })
            let replaced = cancelled.flatMapError(including: .cancellation) { _ in Reply.answer(7) }
            try expect(replaced, succeedsWith: 7)
        }
    }

    @Test("closures are understood without casts, whatever they return", arguments: Driver.allCases)
    func inference(driver: Driver) throws {
        struct Refused: Error {}
        try withLoop(driver) { loop in
            func next(_ value: Int) -> Future<Int> { loop.submit { value + 1 } }
            let one = loop.succeeded(1)
            try expect(one.map { _ in 2 }.flatMap(next), succeedsWith: 3)
            try expect(one.flatMap { next($0) }.flatMap { $0 > 1 ? next($0) : one }, succeedsWith: 3)
            let checked = one.flatMap { value in
                guard value > 0 else { throw Refused() }
                let doubled = value * 2
                return next(doubled)
            }
            try expect(checked, succeedsWith: 3)
            let failed: Future<String> = one.flatMap { _ in loop.failed(Failure(1)) }
            expect(failed, failsWith: Failure(1))
            let branches: Future<Int> = one.flatMap { value in
                if value > 1 { return FutureCompletion.using(next(value)) }
                return FutureCompletion.success(value)
            }
            try expect(branches, succeedsWith: 1)
            let optional = one.map { value in value > 1 ? value : nil }
            try expect(optional, succeedsWith: nil)
            let nothing = one.flatMap { _ in loop.succeeded() }.map { 4 }
            try expect(nothing, succeedsWith: 4)
            let nested = one.flatMap { a in
                next(a).flatMap { b in
                    next(b).flatMap { c in
                        let sum = a + b + c
                        return next(sum).map { $0 * 2 }
                    }
                }
            }
            try expect(nested, succeedsWith: 14)
            let recovered = failed.mapResult { _ in "either" }.flatMapResult { result in
                switch result {
                case .success(let text): return loop.succeeded(text)
                case .failure(let error): return loop.failed(error)
                }
            }
            try expect(recovered, succeedsWith: "either")
        }
    }

    @Test("a promise takes any type that says how to complete it", arguments: Driver.allCases)
    func promise(driver: Driver) throws {
        try withLoop(driver) { loop in
            func completed(_ completing: some Completing<Int>) -> Future<Int> {
                let promise = loop.makePromise(of: Int.self)
                #expect(promise.complete(completing))
                #expect(!promise.complete(FutureCompletion.success(0)))
                return promise.future
            }
            let other = loop.makePromise(of: Int.self)
            try expect(completed(Reply.answer(1)), succeedsWith: 1)
            expect(completed(Reply.busy), failsWith: Failure(1))
            expectCancelled(completed(FutureCompletion.cancelled))
            try expect(completed(Result<Int, Failure>.success(2)), succeedsWith: 2)
            let (byFuture, byPromise) = (completed(other.future), completed(other))
            other.succeed(3)
            #expect(byFuture.result?.value == 3)
            #expect(byPromise.result?.value == 3)
        }
    }

    @Test("a future may be made of any type that says how to complete it", arguments: Driver.allCases)
    func making(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.completed(Reply.answer(1)), succeedsWith: 1)
            expect(loop.completed(Reply.busy), failsWith: Failure(1))
            let promise = loop.makePromise(of: Int.self)
            let pending = loop.completed(promise)
            #expect(pending.cancel())
            #expect(promise.future.isCancelled)
            try expect(loop.flatSubmit { Reply.answer(2) }, succeedsWith: 2)
            try expect(loop.flatSubmit { loop.submit { 3 } }, succeedsWith: 3)
            expect(loop.flatSubmit { () -> Reply in throw Failure(4) }, failsWith: Failure(4))
        }
    }

    @Test("flatten takes the outcome of what is inside", arguments: Driver.allCases)
    func flatten(driver: Driver) throws {
        try withLoop(driver) { loop in
            let inner = loop.makePromise(of: Int.self)
            let flat = loop.succeeded(inner.future).flatten()
            try settle(loop)
            #expect(!flat.isCompleted)
            inner.succeed(1)
            #expect(flat.result?.value == 1)
            let result = loop.succeeded(Result<Int, Failure>.failure(Failure(2)))
            expect(result.flatten(), failsWith: Failure(2))
            let outer = loop.failed(Failure(3), of: Future<Int>.self)
            expect(outer.flatten(), failsWith: Failure(3))
        }
    }

    @Test("a request to cancel goes to the future that a closure returned", arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = loop.succeeded(1).flatMap { _ in Reply.later(promise.future) }
            try settle(loop)
            #expect(future.cancel())
            #expect(promise.future.isCancelled)
            let unrun = loop.makePromise(of: Int.self)
            let skipped = unrun.future.flatMap { _ -> Reply in
                Issue.record("a closure has run")
                return .gone
            }
            #expect(skipped.cancel())
            #expect(unrun.future.isCancelled)
        }
    }

    @Test("completions are read and mapped as they are", arguments: Driver.allCases)
    func completions(driver: Driver) throws {
        try withLoop(driver) { loop in
            #expect(FutureCompletion.success(1).result?.value == 1)
            #expect(FutureCompletion<Int>.cancelled.result?.isCancelled == true)
            #expect(throws: Failure(2)) { try FutureCompletion<Int>.failure(Failure(2)).result?.get() }
            let promise = loop.makePromise(of: Int.self)
            let using = FutureCompletion.using(promise.future)
            #expect(using.result == nil)
            let mapped = [
                FutureCompletion.success(1), .cancelled, .failure(Failure(2)), using,
            ].map { loop.completed($0.map { "\($0)" }) }
            promise.succeed(3)
            try expect(mapped[0], succeedsWith: "1")
            expectCancelled(mapped[1])
            expect(mapped[2], failsWith: Failure(2))
            try expect(mapped[3], succeedsWith: "3")
            #expect(using.result?.value == 3)
            let thrown = FutureCompletion.success(1).map { _ -> Int in throw Failure(4) }
            expect(loop.completed(thrown), failsWith: Failure(4))
        }
    }
}
