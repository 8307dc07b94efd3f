import Futures
import Testing

struct CascadeTests {
    @Test(
        "a future cascades its outcome, or one side of it, to a promise or to none",
        arguments: Driver.allCases)
    func cascade(driver: Driver) throws {
        try withLoop(driver) { loop in
            func outcomes(_ future: Future<Int>) throws -> [String] {
                let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
                future.cascade(to: promises[0])
                future.whenSuccess { promises[1].succeed($0) }
                future.whenFailure { promises[2].fail($0) }
                future.whenCancelled { promises[2].cancel() }
                future.cascade(to: nil)
                try settle(loop)
                return promises.map { promise in
                    defer { promise.cancel() }
                    return "\(promise.future.ignoreFailure())"
                }
            }
            let (value, pending) = ("Future(success: 1)", "Future(pending)")
            try #expect(outcomes(loop.succeeded(1)) == [value, value, pending])
            let failure = "Future(failure: Failure(code: 2))"
            try #expect(outcomes(loop.failed(Failure(2))) == [failure, pending, failure])
            let cancelled = "Future(cancelled)"
            try #expect(outcomes(loop.failed(CancellationError())) == [cancelled, pending, cancelled])
        }
    }

    @Test("a promise that may be missing is set, or passes its outcome on", arguments: Driver.allCases)
    func setOrCascade(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (first, second) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            var promise: Promise<Int>?
            func wait(for other: Promise<Int>) {
                if let promise { promise.future.cascade(to: other) } else { promise = other }
            }
            wait(for: first)
            #expect(promise === first)
            wait(for: second)
            #expect(promise === first)
            first.succeed(1)
            #expect(second.future.result?.value == 1)
        }
    }
}
