import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSCacheTests {
    @Test("an answer is kept for its time to live, which runs down")
    func timeToLive() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.text(["x"])]], timeToLive: 10, after: .zero)
            func left() throws -> Duration {
                try loop.run(until: resolver.texts(of: "A", on: loop))[0].timeToLive
            }
            #expect(try left() == .seconds(10))
            loop.advance(by: .seconds(4))
            #expect(try left() == .seconds(6))
            loop.advance(by: .milliseconds(5999))
            #expect(try left() == .milliseconds(1))
            #expect(servers.queries.count == 1)
            loop.advance(by: .milliseconds(1))
            #expect(try left() == .seconds(10))
            #expect(servers.queries.count == 2)
            #expect(resolver.statistics.cacheHits == 2 && resolver.statistics.questions == 4)
        }
    }

    @Test(
        "that there is nothing is kept as long as the authority says, up to the limit",
        arguments: [(60, 20, 20), (20, 60, 20), (5000, 5000, 900)])
    func negative(timeToLive: UInt32, minimum: UInt32, kept: Int) throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.text(["x"])]], timeToLive: timeToLive, minimum: minimum, after: .zero)
            // One name does not exist, the other has no such record.
            func ask() {
                #expect(loop.failure(of: resolver.texts(of: "b", on: loop)) != nil)
                #expect(loop.failure(of: resolver.services(of: "a", on: loop)) != nil)
            }
            ask()
            loop.advance(by: .seconds(kept) - .milliseconds(1))
            ask()
            #expect(servers.queries.count == 2)
            loop.advance(by: .milliseconds(1))
            ask()
            #expect(servers.queries.count == 4)
        }
    }

    @Test(
        "nothing is kept of failures, of a time to live of zero or below, and of nothing without an authority"
    )
    func notKept() throws {
        try withResolver { servers, resolver, loop throws in
            for (index, change) in [
                { reply in reply.fail(.serverFailed) }, { reply in reply.fail(.nameNotFound) }, { _ in },
                { reply in try reply.add(.text(["x"]), of: reply.question.name, timeToLive: 0) },
                { reply in try reply.add(.text(["x"]), of: reply.question.name, timeToLive: 0x8000_0000) },
            ].enumerated() as EnumeratedSequence<[(inout NameServerReply) throws -> Void]> {
                servers.answer = { query in
                    var reply = query.reply
                    try change(&reply)
                    return [(.zero, reply.bytes)]
                }
                for _ in 0..<2 { _ = loop.outcome(of: resolver.texts(of: "a", on: loop)) }
                #expect(servers.queries.count == 2 * (index + 1))
            }
        }
    }

    @Test("an answer that is not kept makes no room for itself")
    func makesNoRoom() throws {
        try withResolver(maxCached: 1) { servers, resolver, loop throws in
            for (name, timeToLive) in [("a", 60), ("b", 0), ("a", 60)] as [(String, UInt32)] {
                servers.serve([name: [.text(["x"])]], timeToLive: timeToLive)
                _ = try loop.run(until: resolver.texts(of: name, on: loop))
            }
            #expect(servers.queries.map(\.name) == ["a", "b"])
        }
    }

    @Test("the least time to live of a chain of aliases counts")
    func chain() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.alias("b"), of: reply.question.name, timeToLive: 5)
                try reply.add(.text(["x"]), of: DNSName("b"), timeToLive: 50)
                return [(.zero, reply.bytes)]
            }
            #expect(try loop.run(until: resolver.texts(of: "a", on: loop))[0].timeToLive == .seconds(5))
        }
    }

    @Test("a time to live is kept up to the limit")
    func limit() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.text(["x"])]], timeToLive: 1_000_000)
            #expect(try loop.run(until: resolver.texts(of: "a", on: loop))[0].timeToLive == .seconds(86_400))
            // The largest one that is not negative.
            servers.serve(["b": [.text(["x"])]], timeToLive: 0x7FFF_FFFF)
            #expect(try loop.run(until: resolver.texts(of: "b", on: loop))[0].timeToLive == .seconds(86_400))
        }
    }

    @Test("no more answers are kept than allowed, and those asked for last stay")
    func bound() throws {
        try withResolver(maxCached: 2) { servers, resolver, loop throws in
            servers.serve(["a": [.text([])], "b": [.text([])], "c": [.text([])]])
            func ask(_ name: String) throws { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
            for name in ["a", "b", "a", "c", "a", "b"] { try ask(name) }
            #expect(servers.queries.map(\.name) == ["a", "b", "c", "b"])
        }
        try withResolver(maxCached: 0) { servers, resolver, loop throws in
            servers.serve(["a": [.text([])]])
            for _ in 0..<2 { _ = try loop.run(until: resolver.texts(of: "a", on: loop)) }
            #expect(servers.queries.count == 2)
        }
    }

    @Test("an answer with more names and texts than a datagram has bytes counts as several")
    func large() throws {
        try withResolver(maxCached: 3) { servers, resolver, loop throws in
            let text = String(repeating: "x", count: 255)
            servers.serve(
                ["a": [.text(Array(repeating: text, count: 9))], "b": [.text(["x"])], "c": [.text(["x"])]],
                timeToLive: 60, after: .zero)
            func ask(_ names: String...) throws -> Int {
                let before = servers.queries.count
                for name in names { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
                return servers.queries.count - before
            }
            // The large one counts as two.
            #expect(try ask("a", "b", "a", "b") == 2)
            // The one that was used longest ago makes room.
            #expect(try ask("c", "b", "c") == 1)
            #expect(try ask("a") == 1)
        }
    }

    @Test("an answer counts as two from 1,232 bytes of names and texts on", arguments: [1231, 1232])
    func size(bytes: Int) throws {
        try withResolver(maxCached: 2) { servers, resolver, loop throws in
            // The name has 3 bytes, and each string one more than its text.
            let texts = [255, 255, 255, 255, bytes - 3 - 4 * 256 - 1].map {
                String(repeating: "x", count: $0)
            }
            servers.serve(["a": [.text(texts)], "b": [.text([])]])
            for name in ["a", "b", "a"] { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
            #expect(servers.queries.count == (bytes < 1232 ? 2 : 3))
        }
    }
}
