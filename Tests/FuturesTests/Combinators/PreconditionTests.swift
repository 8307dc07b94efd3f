import Futures
import Testing

struct PreconditionTests {
    @Test("checks of the outcome pass what they expect", arguments: Driver.allCases)
    func checks(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expect(loop.succeeded(1).assertSuccess().preconditionSuccess(), succeedsWith: 1)
            let failed = loop.failed(Failure(2), of: Int.self)
            expect(failed.assertFailure().preconditionFailure(), failsWith: Failure(2))
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            expectCancelled(cancelled.assertSuccess().preconditionFailure())
        }
    }
}
