import Futures
import TLSStreams
import Testing

struct DefaultsTests {
    @Test("the defaults are those of the documentation")
    func defaults() throws {
        let handshakes = TLSHandshakeLimits()
        #expect(handshakes.timeout == .seconds(10) && handshakes.greetingTimeout == .seconds(5))
        #expect(handshakes.maxConcurrent == 256)
        let counts = TLSHandshakeStatistics()
        #expect(counts.silent == 0 && counts.underWay == 0 && counts.completed == 0)
        #expect(counts.resumed == 0 && counts.failed.isEmpty && counts.otherwiseFailed == 0)
        #expect(!TLSTrust().includesSystem && TLSTrust.system.includesSystem)
        let client = TLSClientConfiguration()
        #expect(client.trust.includesSystem && client.resumesSessions && client.identity == nil)
        #expect(TLSTicketKeys.keySize == 80 && TLSTicketKeys.maxCount == 8)
        try withLoop { loop in
            let notice = try loop.server().expiryNotice
            #expect(notice == .seconds(14 * 86_400))
        }
    }
}
