import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSSettingsTests {
    @Test("limits that make no sense are refused with their value")
    func limits() throws {
        func refusal(_ change: (inout DNSSettings) -> Void) -> String? {
            var settings = DNSSettings()
            change(&settings)
            return complaint { _ = try DNSResolver(settings) }
        }
        let both = "is not a name server; give an IP address and a port, usually 53"
        #expect(
            refusal { $0.servers = [] }
                == "the list of name servers is empty; give at least one, or nil")
        #expect(
            refusal { $0.servers = [try! SocketAddress(host: "::1", port: 0)] } == "[::1]:0 \(both)"
        )
        #expect(refusal { $0.servers = [try! SocketAddress(path: "@a")] } == "unix:@a \(both)")
        #expect(
            refusal { $0.maxConcurrent = 0 }
                == "a limit of 0 queries at a time is out of range; give 1 or more")
        #expect(
            refusal { $0.maxCached = -1 }
                == "a limit of -1 answers is out of range; give 0 or more")
        #expect(
            refusal { $0.maxTimeToLive = .seconds(-1) }
                == "a time to live of -1.0 seconds is negative; give zero or more")
        #expect(refusal { $0.maxNegativeTimeToLive = .seconds(-1) } != nil)
        #expect(refusal { _ in } == nil)
    }
}
