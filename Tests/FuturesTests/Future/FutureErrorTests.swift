import Futures
import Testing

struct FutureErrorTests {
    @Test("each error of the library says what happened and what to do")
    func errors() {
        let texts: [FutureError: String] = [
            .brokenPromise(file: "a.swift", line: 3):
                "the promise made at a.swift:3 was dropped without being completed; keep it until it is "
                + "completed",
            .cycle: "a future was completed with itself; complete it with another one",
            .timedOut(after: .seconds(2)): "timed out after 2.0 seconds",
            .message("out of luck"): "out of luck",
            .cancellationAsFailure: "the future was cancelled",
            .aborted: "the future was aborted by a signal",
            .castFailed(from: "Int", to: "String"): "a value of type Int cannot be cast to String",
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

    @Test("a text is an error that says just that", arguments: Driver.allCases)
    func message(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.fail(FutureError.message("out of luck")))
            #expect(!promise.fail(FutureError.message("again")))
            expect(promise.future, failsWith: FutureError.message("out of luck"))
            let failed = loop.failed(FutureError.message("no luck"), of: Int.self)
            expect(failed, failsWith: FutureError.message("no luck"))
            #expect("\(FutureError.message("no luck"))" == "no luck")
        }
    }
}
