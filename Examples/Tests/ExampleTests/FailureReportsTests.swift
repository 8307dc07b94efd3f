import FuturesTesting
import ServerSupport
import TLSStreams
import Testing

struct FailureReportsTests {
    @Test func `a reason why connections break is told once a minute`() {
        let loop = EventLoop.virtual()
        let reports = FailureReports(on: loop)
        let (one, other) = (StreamError.madeRoom, FutureError.timedOut(after: .seconds(1)))
        #expect((0..<1000).count { _ in reports.admits(one) } == 1)
        #expect(reports.admits(other))
        loop.advance(by: .seconds(59))
        #expect(!reports.admits(one))
        loop.advance(by: .seconds(1))
        #expect(reports.admits(one))
        #expect(!reports.admits(one))
    }
}
