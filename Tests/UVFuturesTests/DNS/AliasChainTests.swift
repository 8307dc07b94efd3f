import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct AliasChainTests {
    @Test("a chain of aliases is followed, also when each answer has only a part of it")
    func aliases() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.alias("b")], "b": [.alias("c")], "c": [.address("192.0.2.1")]])
            #expect(
                try loop.run(until: resolver.resolve("a", port: 1, on: loop)).map(\.host) == ["192.0.2.1"])
            #expect(servers.queries.count == 2)
        }
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                let record: SimulatedNames.Record =
                    query.name == "c" ? .address("192.0.2.1") : .alias(query.name == "a" ? "b" : "c")
                try reply.add(record, of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            let future = resolver.resolve("a", port: 1, on: loop)
            #expect(try loop.run(until: future).map(\.host) == ["192.0.2.1"])
            #expect(
                servers.asked.filter { $0.contains(" A ") } == [
                    "10.0.0.1 A a", "10.0.0.1 A b", "10.0.0.1 A c",
                ])
        }
    }

    @Test("aliases in a circle, and chains without end, are refused")
    func circles() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.alias(query.name == "a" ? "b" : "a"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                loop.complaint(of: resolver.texts(of: "a", on: loop))
                    == "resolve EAI_AGAIN a: 10.0.0.1:53 says that the aliases of a form a "
                    + "circle, which leads to a again"
            )
            servers.answer = { query in
                var reply = query.reply
                let number = Int(query.name.dropFirst()) ?? 0
                try reply.add(.alias("x\(number + 1)"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                loop.complaint(of: resolver.texts(of: "x", on: loop))
                    == "resolve EAI_AGAIN x: 10.0.0.1:53 says that x has a chain of more than 16 aliases")
            #expect(servers.queries.count == 2 + 16)
        }
    }

    @Test("records of other names in an answer do not count")
    func otherNames() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.address("6.6.6.6"), of: DNSName("evil"), timeToLive: 60)
                try reply.add(.address("192.0.2.1"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                try loop.run(until: resolver.resolve("a", port: 1, on: loop)).map(\.host) == ["192.0.2.1"])
        }
    }
}
