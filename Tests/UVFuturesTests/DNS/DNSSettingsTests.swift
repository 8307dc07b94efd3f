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
        #expect(refusal { ($0.maxConcurrent, $0.maxCached) = (1, 0) } == nil)
        #expect(refusal { ($0.maxTimeToLive, $0.maxNegativeTimeToLive) = (.zero, .zero) } == nil)
    }

    @Test("a resolver that is given no limits has those that its page tells of")
    func defaults() throws {
        try withLoop(.virtual) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                let handles = loop.statistics.handles
                let waiting = (0..<257).map { resolver.texts(of: "n\($0)", on: loop) }
                try loop.run(for: .milliseconds(1))
                #expect(loop.statistics.handles == handles + 256)
                for future in waiting { future.cancel() }
                var asked: [String] = []
                server.datagrams = { reply in
                    asked.append("\(reply.question.name)")
                    var reply = reply
                    if asked.last!.hasPrefix("n") {
                        try reply.add(.text([]), of: reply.question.name, timeToLive: 1_000_000)
                    } else {
                        reply.addAuthority(of: reply.question.name, timeToLive: 1_000_000, minimum: 1_000_000)
                    }
                    return [reply.bytes]
                }
                let names = (0..<1001).map { "n\($0)" }
                let records = try names.map { try loop.run(until: resolver.texts(of: $0, on: loop))[0] }
                #expect(asked == names && records[0].timeToLive == .seconds(86_400))
                // The first has made room for the last.
                for name in ["n1000", "n0"] { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
                #expect(asked.dropFirst(1001) == ["n0"])
                for pause in [Duration.zero, .seconds(900) - .milliseconds(1), .milliseconds(1)] {
                    loop.advance(by: pause)
                    #expect(loop.failure(of: resolver.texts(of: "missing", on: loop)) != nil)
                }
                #expect(asked.dropFirst(1002) == ["missing", "missing"])
            }
        }
    }
}
