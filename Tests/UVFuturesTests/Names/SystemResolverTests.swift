import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct SystemResolverTests {
    @Test("the system knows localhost, with the port that was asked for")
    func localhost() throws {
        try withLoop { loop in
            let addresses = try loop.run(until: SystemResolver.shared.resolve("localhost", port: 7, on: loop))
            #expect(addresses.contains(try SocketAddress(host: "127.0.0.1", port: 7)))
            #expect(Set(addresses).count == addresses.count)
            #expect(SystemResolver.shared.maxConcurrent == 2)
            #expect(SystemResolver.shared.timeout == .seconds(5))
        }
    }

    @Test("a name that does not exist fails with the name and the reason")
    func unknown() throws {
        try withLoop { loop in
            let name = "there-is.none.invalid"
            let error = loop.failure(of: loop.addresses(of: name, port: 7)) as? ResolutionError
            #expect(error?.name == name)
            #expect(
                [.nameNotFound, .nameServerFailed, .noAddress, .timedOut].contains(error!.code), "\(error!)")
            let known = ResolutionError(name: name, code: .nameNotFound)
            #expect("\(known)" == "resolve EAI_NONAME there-is.none.invalid: unknown node or service")
        }
    }

    @Test("the system is not asked for what is no name, and not for a numeric address")
    func malformed() throws {
        let names = Names()
        let resolver = try SystemResolver(lookup: names.lookUp)
        try withLoop { loop in
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
                "a time limit of 0.0 seconds lets no name be resolved; give more than zero")
        ) {
            try SystemResolver(timeout: .zero)
        }
    }

    @Test("two names are asked for at a time, in the order in which they come")
    func limit() throws {
        let names = Names()
        let loop = EventLoop.virtual()
        let resolver = try SystemResolver(lookup: names.lookUp)
        let futures = ["a", "b", "c", "d"].map { resolver.resolve($0, port: 1, on: loop) }
        names.waitUntilAsked("a", "b")
        #expect(names.asked.count == 2)
        names.answer("b", ["192.0.2.2"])
        #expect(eventually { settle(loop) && futures[1].isCompleted })
        names.waitUntilAsked("c")
        #expect(names.asked.count == 3)
        for name in ["a", "c", "d"] { names.answer(name, ["192.0.2.1"]) }
        #expect(eventually { settle(loop) && futures.allSatisfy { $0.isCompleted } })
        #expect(names.asked.last == "d")
        #expect(eventually { resolver.threadCount == 0 })
        loop.shutdown()
    }

    @Test("two names that are stuck delay neither the time limit of a third nor its answer, nor the pool")
    func stuck() throws {
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
        try withLoop { loop in
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

    @Test("cancelling in line, or while the system is asked, ends the wait at once and lets go of the loop")
    func cancelled() throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(maxConcurrent: 1, lookup: names.lookUp)
        weak var freed: LoopCore?
        try onThread {
            try withLoop { loop in
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

    @Test("a loop that is shut down leaves the line, and fails what waits")
    func shutDown() throws {
        let names = Names()
        defer { names.answerAll() }
        let resolver = try SystemResolver(maxConcurrent: 1, lookup: names.lookUp)
        weak var freed: LoopCore?
        do {
            let loop = EventLoop.virtual()
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

/// Runs what has come from other threads.
@discardableResult
private func settle(_ loop: EventLoop) -> Bool {
    loop.advance(by: .zero)
    return true
}

/// A system that is asked for names, and answers when the test says so.
private final class Names: @unchecked Sendable {
    // All state is behind the condition.
    private let condition = NSCondition()
    private var names: [String] = []
    private var answers: [String: [SocketAddress]] = [:]
    private var answersAll = false

    /// So far, in that order.
    var asked: [String] { condition.withLock { names } }

    var lookUp: @Sendable (String) -> Result<[SocketAddress], ResolutionError> {
        { name in
            self.condition.withLock {
                self.names.append(name)
                self.condition.broadcast()
                while self.answers[name] == nil, !self.answersAll { self.condition.wait() }
                return .success(self.answers[name] ?? [])
            }
        }
    }

    func answer(_ name: String, _ hosts: [String]) {
        let addresses = hosts.map { try! SocketAddress(host: $0, port: 0) }
        condition.withLock {
            answers[name] = addresses
            condition.broadcast()
        }
    }

    func answerAll() {
        condition.withLock {
            answersAll = true
            condition.broadcast()
        }
    }

    func waitUntilAsked(_ wanted: String..., times: Int = 1) {
        let end = Date.now + 30
        condition.withLock {
            for name in wanted {
                while names.count(where: { $0 == name }) < times, condition.wait(until: end) {}
                #expect(names.count { $0 == name } >= times, "\(name)")
            }
        }
    }
}
