import Futures
import Testing

struct FutureTests {
    @Test("a future shows its state", arguments: Driver.allCases)
    func description(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            #expect("\(promise.future)" == "Future(pending)")
            #expect(!promise.future.isCompleted)
            #expect(promise.future.result == nil)
            #expect(promise.future.loop == loop)
            promise.succeed(1)
            #expect("\(promise.future)" == "Future(success: 1)")
            #expect(promise.future.isCompleted)
            try #expect(promise.future.result?.get() == 1)
            let failed = loop.failed(Failure(2), of: Int.self).ignoreFailure()
            #expect("\(failed)" == "Future(failure: Failure(code: 2))")
            #expect(throws: Failure(2)) { try failed.result?.get() }
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            #expect("\(cancelled)" == "Future(cancelled)")
            #expect(throws: CancellationError.self) { try cancelled.result?.get() }
        }
    }

    @Test(
        "the completed future of nothing is one and the same while the loop runs", arguments: Driver.allCases)
    func succeeded(driver: Driver) throws {
        try withLoop(driver) { loop in
            try loop.run(until: loop.succeeded())
            let grown = loop.submit {
                let before = loop.statistics.futures
                let futures = (0..<100).map { _ in loop.succeeded() }
                return withExtendedLifetime(futures) { loop.statistics.futures - before }
            }
            try expect(grown, succeedsWith: 0)
        }
    }

    @Test("the statistics count what is alive", arguments: Driver.allCases)
    func statistics(driver: Driver) throws {
        try withLoop(driver) { loop in
            var promise: Promise<Int>? = loop.makePromise()
            var futures = [promise!.future.map { $0 }, loop.succeeded(1)]
            #expect(loop.statistics.futures == 3)
            #expect(loop.statistics.promises == 1)
            let timers = [loop.sleep(for: .seconds(1)), loop.sleep(for: .seconds(2))]
            #expect(loop.statistics.timers == 2)
            #expect(loop.statistics.futures == 5)
            #expect(loop.statistics.handles == 0 && loop.statistics.connections == 0)
            for timer in timers { timer.cancel() }
            #expect(loop.statistics.timers == 0)
            promise?.succeed(1)
            promise = nil
            #expect(loop.statistics.promises == 0)
            try settle(loop)
            futures.removeAll { $0.isCompleted }
            #expect(loop.statistics.futures == 2)
            let turns = loop.statistics.turns
            try settle(loop)
            #expect(loop.statistics.turns == turns + 1)
            withExtendedLifetime(timers) {}
        }
    }

    @Test("each error of the library says what happened and what to do")
    func errors() {
        let texts: [FutureError: String] = [
            .brokenPromise(file: "a.swift", line: 3):
                "the promise made at a.swift:3 was dropped without being completed; keep it until it is",
            .cycle: "a future was completed with itself; complete it with another one",
            .timedOut(after: .seconds(2)): "timed out after 2.0 seconds",
            .message("out of luck"): "out of luck",
            .cancellationAsFailure: "the future was cancelled",
            .aborted: "the future was aborted by a signal",
            .castFailed(from: "Int", to: "String"): "a value of type Int is no String",
            .missingValue: "there is no value to unwrap",
            .notFailed: "the future has a value, and no error",
            .filtered: "the value does not satisfy the filter",
            .stalled: "run(until:) stalled: no timer, handle or job is left that could complete the future",
            .stopped: "the loop was stopped before the future completed",
            .shutDown: "the event loop has been shut down; make a new one",
            .invalidArgument("3 is too many"): "3 is too many",
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
    }
}
