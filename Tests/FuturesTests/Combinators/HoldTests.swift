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
}
