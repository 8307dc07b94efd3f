import Futures
import Testing

struct TypedTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "an untyped future becomes a typed one by a closure that knows what to do with any error",
        arguments: Driver.allCases)
    func typed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (own, foreign) = (
                loop.failed(Refusal.tooLate, of: Int.self), loop.failed(Failure(1), of: Int.self)
            )
            try expect(own.typed(Refusal.self) { _ in .refused }, completesAs: "failure: tooLate")
            try expect(foreign.typed(Refusal.self) { _ in .refused }, completesAs: "failure: refused")
            try expect(
                own.typed { _ in Refused(.refused) },
                completesAs: "failure: Refused(refused)")
            try expect(loop.succeeded(1).typed(Refusal.self) { _ in .refused }, completesAs: "success: 1")
            let broken = { loop.makePromise(of: Int.self).future }()
            try expect(broken.typed(Refusal.self) { _ in .refused }, completesAs: "failure: refused")
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            try expect(cancelled.typed(Refusal.self) { _ in .refused }, completesAs: "cancelled")
        }
    }

    @Test("erased gives an untyped future of the same outcome", arguments: Driver.allCases)
    func erased(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(Typed.succeeded(1, on: loop).erased, succeedsWith: 1)
            expect(Typed.failed(.refused, on: loop).erased, failsWith: Refusal.refused)
            let promise = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            promise.cancel()
            expectCancelled(promise.future.erased)
        }
    }
}
