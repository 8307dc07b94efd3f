import Futures
import Testing

struct FlatTapTests {
    @Test("taps that return a future are waited for and change nothing", arguments: Driver.allCases)
    func wait(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func step(_ name: String) -> Future<String> { loop.submit { seen.add(name) }.map { name } }
            let value = loop.succeeded(1).flatTap { step("tap \($0)") }
                .flatTapError { _ in step("no error") }
                .flatTapResult { step("result \($0.value ?? 0)") }
            value.whenSuccess { seen.add("after \($0)") }
            try expect(value, succeedsWith: 1)
            let error = loop.failed(Failure(2), of: Int.self).flatTap { _ in step("no value") }
                .flatTapError { step("error \($0)") }
                .flatTapResult { step("success \($0.isSuccess)") }
            error.whenFailure { _ in seen.add("after") }
            expect(error, failsWith: Failure(2))
            let cancelled = loop.failed(CancellationError(), of: Int.self).flatTapError { _ in
                step("no error")
            }
            .flatTapResult { step("cancelled \($0.isCancelled)") }
            expectCancelled(cancelled)
            #expect(
                seen.entries == [
                    "tap 1", "result 1", "after 1", "error Failure(code: 2)", "success false", "after",
                    "cancelled true",
                ])
        }
    }

    @Test("what fails in a tap replaces the outcome", arguments: Driver.allCases)
    func failing(driver: Driver) throws {
        try withLoop(driver) { loop in
            let value = loop.succeeded(1)
            expect(value.flatTap { _ in loop.failed(Failure(3), of: Int.self) }, failsWith: Failure(3))
            expect(value.flatTap { _ -> Future<Int> in throw Failure(4) }, failsWith: Failure(4))
            expectCancelled(value.flatTap { _ in FutureCompletion<Void>.cancelled })
        }
    }

    @Test("cancelling a tap cancels what it waits for", arguments: Driver.allCases)
    func cancelling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let tapped = loop.succeeded(1).flatTap { _ in promise.future }
            try settle(loop)
            #expect(tapped.cancel())
            #expect(promise.future.isCancelled)
        }
    }

    @Test("a clean-up runs once for each outcome, and all wait for it", arguments: Driver.allCases)
    func always(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func cleanUp() -> Future<Void> {
                seen.add("start")
                return loop.sleep(for: .ticks(1)).map { seen.add("end") }
            }
            let value = loop.succeeded(1).flatAlways(cleanUp)
            value.whenSuccess { _ in seen.add("value") }
            try expect(value, succeedsWith: 1)
            #expect(seen.entries == ["start", "end", "value"])
            expect(loop.failed(Failure(2), of: Int.self).flatAlways(cleanUp), failsWith: Failure(2))
            expectCancelled(loop.failed(CancellationError(), of: Int.self).flatAlways(cleanUp))
            #expect(seen.entries.filter { $0 == "end" }.count == 3)
        }
    }

    @Test("a clean-up that fails replaces the outcome", arguments: Driver.allCases)
    func failingCleanUp(driver: Driver) throws {
        try withLoop(driver) { loop in
            let value = loop.succeeded(1)
            expect(value.flatAlways { loop.failed(Failure(3), of: Int.self) }, failsWith: Failure(3))
            expect(value.flatAlways { () -> Future<Int> in throw Failure(4) }, failsWith: Failure(4))
        }
    }

    @Test(
        "a clean-up runs when its own future is cancelled, and nothing waits for it",
        arguments: Driver.allCases)
    func cancelledCleanUp(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add("unhandled \($0)") }
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.flatAlways {
                seen.add("start")
                return loop.sleep(for: .ticks(1)).map { seen.add("end") }
            }
            #expect(future.map { $0 }.cancel())
            #expect(future.isCancelled && promise.future.isCancelled)
            try pass(.ticks(2), on: loop)
            #expect(seen.entries == ["start", "end"])

            let failing = loop.makePromise(of: Int.self)
            #expect(failing.future.flatAlways { loop.failed(Failure(1), of: Int.self) }.cancel())
            let throwing = loop.makePromise(of: Int.self)
            #expect(throwing.future.flatAlways { () -> Future<Int> in throw Failure(2) }.cancel())
            try settle(loop)
            try settle(loop)
            #expect(
                seen.entries == [
                    "start", "end", "unhandled Failure(code: 1)", "unhandled Failure(code: 2)",
                ])
        }
    }
}
