import Dispatch
import Futures
import TestSupport
import Testing

struct WaitTests {
    @Test("another thread waits for a future, and gets its value or error", arguments: Driver.allCases)
    func outcomes(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            try onThread {
                let value = try loop.wait { loop.sleep(for: .ticks(1)).map { 1 } }
                #expect(value == 1)
                let completed = try loop.wait(timeout: .seconds(1000)) { loop.succeeded(2) }
                #expect(completed == 2)
                #expect(throws: Failure(3)) { try loop.wait { loop.failed(Failure(3), of: Int.self) } }
                #expect(throws: Failure(4)) { try loop.wait { () -> Future<Int> in throw Failure(4) } }
                #expect(throws: CancellationError.self) {
                    try loop.wait {
                        let forever = loop.makePromise(of: Int.self)
                        loop.submit { forever.cancel() }.whenSuccess { _ in }
                        return forever.future
                    }
                }
            }
        }
    }

    @Test("a timeout ends the wait and asks the future to cancel", arguments: Driver.allCases)
    func timeout(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            try onThread {
                let asked = DispatchSemaphore(value: 0)
                let limit = Duration.milliseconds(1)
                #expect(throws: FutureError.timedOut(after: limit)) {
                    try loop.wait(timeout: limit) {
                        let forever = loop.makePromise(of: Int.self)
                        forever.onCancelRequest {
                            withExtendedLifetime(forever) { _ = asked.signal() }
                            return .cancel
                        }
                        return forever.future
                    }
                }
                asked.wait()
                let text = "a timeout of -1.0 seconds is negative; give zero or more"
                #expect(throws: FutureError.invalidArgument(text)) {
                    try loop.wait(timeout: .seconds(-1)) { loop.succeeded() }
                }
            }
        }
    }
}
