import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct AddressPairTests {
    @Test("when one family has come, a silent other one delays it by 250 ms")
    func oneFamily() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                guard query.type == "A" else { return [] }
                var reply = query.reply
                try reply.add(.address("192.0.2.1"), of: reply.question.name, timeToLive: 60)
                return [(.milliseconds(1), reply.bytes)]
            }
            let start = loop.now
            #expect(try loop.run(until: resolver.resolve("a", port: 1, on: loop)).count == 1)
            #expect(start.duration(to: loop.now) == .milliseconds(251))
            settle(loop)
            #expect(servers.openSockets == 0 && loop.statistics.timers == 0)
        }
    }

    /// Lets one family be answered with a code after a millisecond, and the other as the test says.
    private func spoil(
        _ servers: FakeServers, _ type: String, _ code: DNSResponse.Code,
        _ other:
            @escaping (NameServerReply) throws
            -> [(Duration, [UInt8])]
    ) {
        servers.answer = { query in
            guard query.type == type else { return try other(query.reply) }
            var reply = query.reply
            reply.fail(code)
            return [(.milliseconds(1), reply.bytes)]
        }
    }

    @Test(
        "a name that does not exist in one family, or fails, may have addresses of the other",
        arguments: ["A", "AAAA"],
        [.nameNotFound, .formatError, .serverFailed, .notImplemented, .refused, DNSResponse.Code(number: 9)]
            as [DNSResponse.Code])
    func missing(type: String, code: DNSResponse.Code) throws {
        try withResolver { servers, resolver, loop throws in
            for delay in [Duration.zero, .milliseconds(1), .seconds(1), .milliseconds(4900)] {
                spoil(servers, type, code) { reply in
                    var reply = reply
                    for address in ["192.0.2.1", "2001:db8::1"] where address.contains(":") == (type == "A") {
                        try reply.add(.address(address), of: reply.question.name, timeToLive: 0)
                    }
                    return [(delay, reply.bytes)]
                }
                #expect(try loop.run(until: resolver.resolve("a", port: 1, on: loop)).count == 1, "\(delay)")
                settle(loop)
                #expect(loop.statistics.timers == 0)
            }
        }
    }

    @Test("a name that does not exist in one family is waited for in the other for the time of one query")
    func missingAndSilent() throws {
        try withResolver { servers, resolver, loop throws in
            for type in ["A", "AAAA"] {
                spoil(servers, type, .nameNotFound) { _ in [] }
                let start = loop.now
                #expect(
                    loop.complaint(of: resolver.resolve("a", port: 1, on: loop))
                        == "resolve EAI_NONAME a: 10.0.0.1:53 says that a does not exist")
                #expect(start.duration(to: loop.now) <= .milliseconds(5251))
            }
        }
    }

    @Test(
        "a name that does not exist in one family may exist if the other fails, or is there without addresses"
    )
    func missingAndFailed() throws {
        try withResolver { servers, resolver, loop throws in
            for (code, text) in [
                (.serverFailed, "EAI_AGAIN a: 10.0.0.1:53 answered with an error (SERVFAIL)"),
                (.noError, "EAI_NODATA a: 10.0.0.1:53 says that a has no address"),
            ] as [(DNSResponse.Code, String)] {
                spoil(servers, "AAAA", .nameNotFound) { reply in
                    var reply = reply
                    reply.fail(code)
                    return [(.milliseconds(2), reply.bytes)]
                }
                #expect(loop.complaint(of: resolver.resolve("a", port: 1, on: loop)) == "resolve \(text)")
            }
        }
    }

    @Test("a failure of one family is no failure if the other has addresses, and is one otherwise")
    func failedFamily() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                if query.type == "AAAA" { reply.fail(.serverFailed) }
                if query.type == "A", query.name == "a" {
                    try reply.add(.address("192.0.2.1"), of: reply.question.name, timeToLive: 60)
                }
                return [(.milliseconds(1), reply.bytes)]
            }
            #expect(try loop.run(until: resolver.resolve("a", port: 1, on: loop)).count == 1)
            #expect(
                loop.complaint(of: resolver.resolve("b", port: 1, on: loop))
                    == "resolve EAI_AGAIN b: 10.0.0.1:53 answered with an error (SERVFAIL)")
        }
    }
}
