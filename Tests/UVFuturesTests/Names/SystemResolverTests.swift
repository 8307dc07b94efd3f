import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct SystemResolverTests {
    @Test(
        "the system is not asked for what is no name, and not for a numeric address",
        arguments: TestNetwork.allCases)
    func malformed(network: TestNetwork) throws {
        let names = Names()
        let resolver = try SystemResolver(lookup: names.lookUp)
        try withLoop(network) { loop in
            for host in ["localhost\0.example.com", "", "a b"] {
                let error = loop.failure(of: resolver.resolve(host, port: 1, on: loop))
                guard case .invalidArgument = error as? FutureError else {
                    Issue.record("\(error!)")
                    continue
                }
            }
            #expect(
                loop.failure(of: resolver.resolve("a", port: -1, on: loop)) as? FutureError
                    == .invalidArgument("port -1 is out of range; give 0 to 65535"))
            let numeric = try resolver.resolve("::1", port: 1, on: loop).result?.get()
            #expect(numeric?.map(\.description) == ["[::1]:1"])
        }
        #expect(names.asked.isEmpty)
    }

    @Test("limits that make no sense are refused with their value")
    func arguments() throws {
        for limit in [0, -1, 1025] {
            #expect(
                throws: FutureError.invalidArgument(
                    "a limit of \(limit) names at a time is out of range; give 1 to 1024")
            ) {
                try SystemResolver(maxConcurrent: limit)
            }
        }
        #expect(
            throws: FutureError.invalidArgument(
                "timeout must be positive, not 0.0 seconds")
        ) {
            try SystemResolver(timeout: .zero)
        }
    }

    @Test(
        "cancelling in line, or while the system is asked, ends the wait at once and lets go of the loop",
        arguments: TestNetwork.allCases)
    func cancelled(network: TestNetwork) throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(maxConcurrent: 1, lookup: names.lookUp)
        weak var freed: LoopCore?
        try onThread {
            try withLoop(network) { loop in
                let asked = resolver.resolve("a", port: 1, on: loop)
                let inLine = resolver.resolve("b", port: 1, on: loop)
                names.waitUntilAsked("a")
                #expect(inLine.cancel())
                #expect(asked.cancel())
                #expect(loop.statistics.timers == 0)
                try loop.run()
            }
        }
        do {
            let loop = EventLoop.virtual()
            freed = loop.core
            let future = resolver.resolve("c", port: 1, on: loop)
            names.waitUntilAsked("c")
            future.cancel()
            settle(loop)
            loop.shutdown()
        }
        #expect(freed == nil)
        #expect(names.asked == ["a", "c"])
    }

    @Test("a snapshot of the loop tells which name a body waits for")
    func dump() throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(lookup: names.lookUp)
        try withLoop(.virtual) { loop in
            loop.isTraced = true
            let body = Future(on: loop) { _ = try await resolver.resolve("a.test", port: 1, on: loop).value }
            loop.advance(by: .zero)
            #expect(loop.dump().contains("for a look-up of the addresses of a.test"))
            body.cancel()
        }
    }

    @Test("a loop that is shut down leaves the line, and fails what waits", arguments: TestNetwork.allCases)
    func shutDown(network: TestNetwork) throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(maxConcurrent: 1, lookup: names.lookUp)
        weak var freed: LoopCore?
        do {
            let loop = try network.makeLoop()
            freed = loop.core
            let asked = resolver.resolve("a", port: 1, on: loop)
            let inLine = resolver.resolve("b", port: 1, on: loop)
            names.waitUntilAsked("a")
            loop.shutdown()
            #expect(throws: FutureError.shutDown) { try asked.result?.get() }
            #expect(throws: FutureError.shutDown) { try inLine.result?.get() }
            #expect(throws: FutureError.shutDown) {
                try resolver.resolve("c", port: 1, on: loop).result?.get()
            }
        }
        #expect(freed == nil)
        let other = EventLoop.virtual()
        let next = resolver.resolve("d", port: 1, on: other)
        names.waitUntilAsked("d")
        next.cancel()
        other.shutdown()
        #expect(resolver.threadCount <= 3)
    }
}
