import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSLookupTests {
    @Test("callers share a query, and cancelling the last one drops it")
    func shared() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.address("192.0.2.1")]], after: .seconds(1))
            let futures = (0..<3).map { _ in resolver.resolve("a", port: 1, on: loop) }
            settle(loop)
            #expect(servers.queries.count == 2 && servers.openSockets == 2)
            #expect(futures[0].cancel() && futures[1].cancel())
            settle(loop)
            #expect(servers.openSockets == 2)
            #expect(try loop.run(until: futures[2]).count == 1)
            #expect(resolver.statistics.shared == 4)
            let late = resolver.resolve("b", port: 1, on: loop)
            settle(loop)
            #expect(servers.openSockets == 2)
            #expect(late.cancel())
            settle(loop)
            #expect(servers.openSockets == 0 && loop.statistics.timers == 0)
        }
    }

    @Test("queries beyond the limit wait in a line, which a cancelled one leaves")
    func line() throws {
        try withResolver(maxConcurrent: 2) { servers, resolver, loop throws in
            servers.serve([
                "a": [.text(["a"])], "b": [.text(["b"])], "c": [.text(["c"])], "d": [.text(["d"])],
            ])
            let futures = ["a", "b", "c", "d"].map { resolver.texts(of: $0, on: loop) }
            settle(loop)
            #expect(servers.queries.map(\.name) == ["a", "b"])
            #expect(futures[2].cancel())
            #expect(try loop.run(until: futures[3])[0].text == "d")
            #expect(servers.queries.map(\.name) == ["a", "b", "d"])
            #expect(servers.mostOpenSockets == 2)
        }
    }

    @Test("thousands of names are under way at a time")
    func thousands() throws {
        try withResolver(maxConcurrent: 10_000) { servers, resolver, loop throws in
            servers.serve([:], after: .seconds(1))
            let futures = (0..<5000 / slowShare).map { resolver.resolve("n\($0)", port: 1, on: loop) }
            settle(loop)
            #expect(servers.openSockets == 2 * futures.count)
            let start = loop.now
            for future in futures { #expect(loop.failure(of: future) is ResolutionError) }
            #expect(start.duration(to: loop.now) == .seconds(1))
        }
    }
}
