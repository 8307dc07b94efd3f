import Futures
import Testing

struct HoldTests {
    @Test("hold keeps an outcome back until another future has completed", arguments: Driver.allCases)
    func hold(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let gate = loop.makePromise(of: Void.self)
            let held = loop.succeeded(1).delay(until: gate.future)
            let failed = loop.failed(Failure(2), of: Int.self).delay(until: gate.future)
            let early = loop.makePromise(of: Int.self)
            let late = early.future.delay(until: gate.future)
            try settle(loop)
            #expect(!held.isCompleted && !failed.isCompleted)
            gate.succeed()
            try expect(held, succeedsWith: 1)
            expect(failed, failsWith: Failure(2))
            #expect(!late.isCompleted)
            early.succeed(3)
            try expect(late, succeedsWith: 3)
            expect(
                loop.succeeded(1).delay(until: loop.failed(Failure(4), of: Int.self)), failsWith: Failure(4))
            let first = Numbers(loop)
            let until = loop.succeeded(5).delay(until: first.sequence.first())
            try settle(loop)
            first.send(0)
            try expect(until, succeedsWith: 5)
        }
    }

    @Test("a failure of what a future is held for, or falls back to, or cascades, is not reported besides")
    func unreported() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add("\($0)") }
            let never = loop.makePromise(of: Int.self)
            let held = never.future.delay(until: loop.failed(Failure(1), of: Int.self))
            let fallback = never.future.fallback(to: loop.failed(Failure(2)))
            let completed = loop.makePromise(of: Int.self)
            completed.succeed(1)
            loop.failed(Failure(3), of: Int.self).cascade(to: completed)
            try settle(loop)
            #expect(seen.entries == [] && !held.isCompleted && !fallback.isCompleted)
            never.succeed(1)
            expect(held, failsWith: Failure(1))
        }
    }
}
