import Futures
import FuturesTesting
import Testing

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

    @Test("a name that does not exist in one family is not waited for in the other")
    func missing() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                guard query.type == "A" else { return [] }
                var reply = query.reply
                reply.fail(.nameNotFound)
                return [(.milliseconds(1), reply.bytes)]
            }
            let start = loop.now
            #expect(
                loop.complaint(of: resolver.resolve("a", port: 1, on: loop))
                    == "resolve EAI_NONAME a: 10.0.0.1:53 says that a does not exist")
            #expect(start.duration(to: loop.now) == .milliseconds(1))
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
