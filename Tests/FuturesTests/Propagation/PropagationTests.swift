import TestSupport
import Testing

@testable import Futures

struct PropagationTests {
    @Test(
        "a loop that the answer to a request to cancel lets go of ends after the answer",
        arguments: Driver.allCases)
    func loopGoesWithinRequest(driver: Driver) throws {
        let seen = Record()
        weak var core: LoopCore?
        do {
            var loop = Optional(try driver.makeLoop())
            core = loop?.core
            let promise = loop!.makePromise(of: Int.self)
            loop!.sleep(for: .seconds(1000)).whenFailure { seen.add($0) }
            promise.onCancelRequest {
                loop = nil
                seen.add("the handler is over")
                return .cancel
            }
            promise.future.cancel()
        }
        #expect(seen.entries == ["the handler is over", "\(FutureError.shutDown)"])
        #expect(core == nil)
    }
}
