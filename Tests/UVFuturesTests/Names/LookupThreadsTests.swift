import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct LookupThreadsTests {
    @Test(
        "two names are asked for at a time, in the order in which they come", arguments: TestNetwork.allCases)
    func limit(network: TestNetwork) throws {
        let names = Names()
        let loop = try network.makeLoop()
        let resolver = try SystemResolver(lookup: names.lookUp)
        let futures = ["a", "b", "c", "d"].map { resolver.resolve($0, port: 1, on: loop) }
        names.waitUntilAsked("a", "b")
        #expect(names.asked.count == 2)
        names.answer("b", ["192.0.2.2"])
        #expect(eventually { settle(loop, network) && futures[1].isCompleted })
        names.waitUntilAsked("c")
        #expect(names.asked.count == 3)
        for name in ["a", "c", "d"] { names.answer(name, ["192.0.2.1"]) }
        #expect(eventually { settle(loop, network) && futures.allSatisfy { $0.isCompleted } })
        #expect(names.asked.last == "d")
        #expect(eventually { resolver.threadCount == 0 })
        loop.shutdown()
    }

    @Test(
        "two names that are stuck delay neither the time limit of a third nor its answer, nor the pool",
        arguments: TestNetwork.allCases)
    func stuck(network: TestNetwork) throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(lookup: names.lookUp)
        let loop = EventLoop.virtual()
        let stuck = ["a", "b"].map { resolver.resolve($0, port: 1, on: loop) }
        names.waitUntilAsked("a", "b")
        let third = resolver.resolve("c", port: 1, on: loop)
        let fourth = resolver.resolve("d", port: 1, on: loop)
        loop.advance(by: .milliseconds(999))
        #expect(names.asked.count == 2)
        loop.advance(by: .milliseconds(1))
        names.waitUntilAsked("c", "d")
        names.answer("c", ["192.0.2.3"])
        #expect(eventually { settle(loop) && third.isCompleted })
        #expect(try third.result?.get() == [SocketAddress(host: "192.0.2.3", port: 1)])
        try withLoop(network) { loop in
            let inPool = try loop.run(until: RemoteContext.pool.execute(on: loop) { 1 })
            #expect(inPool == 1)
        }
        loop.advance(by: .milliseconds(3999))
        #expect(!fourth.isCompleted)
        loop.advance(by: .milliseconds(1))
        for (future, name) in zip(stuck + [fourth], ["a", "b", "d"]) {
            let error = #expect(throws: ResolutionError(name: name, code: .timedOut)) {
                try future.result?.get()
            }
            #expect("\(error!)" == "resolve ETIMEDOUT \(name): no answer came in time")
        }
        // Nobody waits for the threads that are stuck, and they do not count.
        let fifth = resolver.resolve("e", port: 1, on: loop)
        names.waitUntilAsked("e")
        names.answer("e", ["192.0.2.5"])
        #expect(eventually { settle(loop) && fifth.isCompleted })
        #expect(resolver.threadCount >= 3)
        #expect(loop.statistics.timers == 0)
        loop.shutdown()
        names.answerAll()
        #expect(eventually { resolver.threadCount == 0 })
    }

    @Test("when all threads are stuck a name waits for the first that comes back")
    func exhausted() throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(maxConcurrent: 1, lookup: names.lookUp)
        let loop = EventLoop.virtual()
        for number in 0..<8 {
            let future = resolver.resolve("\(number).x", port: 1, on: loop)
            names.waitUntilAsked("\(number).x")
            future.cancel()
        }
        #expect(resolver.threadCount == 8)
        let last = resolver.resolve("last", port: 1, on: loop)
        loop.advance(by: .seconds(2))
        #expect(names.asked.count == 8 && resolver.threadCount == 8)
        names.answer("3.x", [])
        names.waitUntilAsked("last")
        names.answer("last", ["192.0.2.9"])
        #expect(eventually { settle(loop) && last.isCompleted })
        let late = resolver.resolve("late", port: 1, on: loop)
        loop.advance(by: .seconds(5))
        #expect(late.isCompleted)
        late.ignoreFailure()
        loop.shutdown()
    }

    @Test("who asks for a name that is just being asked for shares the answer; a second later no longer")
    func shared() throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(lookup: names.lookUp)
        let loop = EventLoop.virtual()
        let first = resolver.resolve("a", port: 1, on: loop)
        let second = resolver.resolve("A", port: 2, on: loop)
        let cancelled = resolver.resolve("a", port: 3, on: loop)
        names.waitUntilAsked("a")
        cancelled.cancel()
        loop.advance(by: .seconds(1))
        let late = resolver.resolve("a", port: 4, on: loop)
        names.waitUntilAsked("a", times: 2)
        names.answer("a", ["192.0.2.1"])
        #expect(eventually { settle(loop) && first.isCompleted && second.isCompleted && late.isCompleted })
        #expect(try second.result?.get().first?.port == 2)
        #expect(names.asked.count == 2)
        loop.shutdown()
    }

    @Test("a name whose answer is there is asked for anew")
    func again() throws {
        let names = Names()
        names.answer("a", ["192.0.2.1"])
        let resolver = try SystemResolver(lookup: names.lookUp)
        let loop = EventLoop.virtual()
        for count in 1...2 {
            let future = resolver.resolve("a", port: 1, on: loop)
            #expect(eventually { settle(loop) && future.isCompleted })
            #expect(names.asked.count == count)
        }
        loop.shutdown()
    }

    @Test("a thousand names from four loops all get their own answer, and no thread is left")
    func many() throws {
        let resolver = try SystemResolver(timeout: .seconds(600)) { name in
            .success([try! SocketAddress(host: "10.0.\(name.dropFirst()).1", port: 0)])
        }
        let group = DispatchGroup()
        for _ in 0..<4 {
            startThread(of: group) {
                try! withLoop { loop in
                    let futures = (0..<250).map { resolver.resolve("n\($0)", port: 5, on: loop) }
                    for (number, addresses) in try loop.run(until: Future.all(futures)).enumerated() {
                        #expect(addresses.map(\.description) == ["10.0.\(number).1:5"])
                    }
                }
            }
        }
        group.wait()
        #expect(eventually { resolver.threadCount == 0 })
    }
}
