import Futures
import Testing

struct CancellationTests {
    @Test(
        "cancelling a pending future cancels it now, and its promise is refused afterwards",
        arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.future.cancel())
            #expect("\(promise.future)" == "Future(cancelled)")
            #expect(!promise.succeed(1))
            #expect(!promise.fail(Failure()))
            #expect(!promise.complete(using: loop.succeeded(1)))
            #expect(!promise.future.cancel())
            expectCancelled(promise.future)
        }
    }

    @Test("a completed future is not cancelled", arguments: Driver.allCases)
    func completed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.succeed(1)
            #expect(!promise.future.cancel())
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test(
        "a request travels to the source, and everything between is cancelled and released unrun",
        arguments: Driver.allCases)
    func travels(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            let promise = loop.makePromise(of: Int.self)
            func derive() -> [Future<Int>] {
                let witness = Witness()
                captured = witness
                func refuse(_ value: Int) -> Int {
                    witness.look()
                    Issue.record("a closure has run")
                    return value
                }
                let mapped = promise.future.map(refuse)
                let chained = mapped.flatMap { loop.succeeded(refuse($0)) }
                let recovered = chained.recover { _ in refuse(0) }
                return [mapped, chained, recovered, recovered.tapResult { _ = refuse((try? $0.get()) ?? 0) }]
            }
            let futures = derive()
            #expect(futures.last!.cancel())
            #expect(captured == nil)
            for future in futures { #expect("\(future)" == "Future(cancelled)") }
            #expect(!promise.succeed(1))
            try settle(loop)
        }
    }

    @Test("what a request cancels is cancelled upstream first", arguments: Driver.allCases)
    func upstreamFirst(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let end = promise.future.always { seen.add(1) }.map { $0 }.always { seen.add(2) }.always {
                seen.add(3)
            }
            #expect(end.cancel())
            try settle(loop)
            #expect(seen.entries == ["1", "2", "3"])
        }
    }

    @Test("a future that somebody waits for is not cancelled", arguments: Driver.allCases)
    func needed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let mapped = promise.future.map { $0 + 1 }
            #expect(!promise.future.cancel())
            let observed = mapped.map { $0 + 1 }
            let seen = Record()
            observed.whenSuccess { seen.add($0) }
            #expect(!observed.cancel())
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["3"])
        }
    }

    @Test("a request stops where another consumer waits", arguments: Driver.allCases)
    func stopsAtBranch(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let trunk = promise.future.map { $0 + 1 }
            let branch = trunk.map { $0 + 1 }
            let leaf = branch.map { $0 + 1 }
            let other = trunk.map { $0 * 10 }
            #expect(leaf.cancel())
            #expect("\(branch)" == "Future(cancelled)")
            #expect("\(trunk)" == "Future(pending)")
            promise.succeed(1)
            try expect(other, succeedsWith: 20)
            expectCancelled(leaf)
        }
    }

    @Test("the last consumer to leave cancels the source", arguments: Driver.allCases, [0, 1, 2])
    func lastConsumer(driver: Driver, stays: Int) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let consumers = (0..<3).map { index in promise.future.map { $0 + index } }
            for index in 0..<3 where index != stays { #expect(consumers[index].cancel()) }
            #expect(!promise.future.isCompleted)
            #expect(consumers[stays].cancel())
            #expect(promise.future.isCompleted)
        }
    }

    @Test("a step in the ready queue is cancelled too", arguments: Driver.allCases)
    func queued(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func derive(_ future: Future<Int>) -> Future<Int> {
                let witness = Witness()
                captured = witness
                return future.map { value in
                    witness.look()
                    Issue.record("the closure has run")
                    return value
                }
            }
            let mapped = derive(loop.succeeded(1))
            #expect(mapped.cancel())
            #expect(captured == nil)
            expectCancelled(mapped)
            let submitted = loop.submit { Issue.record("the job has run") }
            #expect(submitted.cancel())
            expectCancelled(submitted)
        }
    }

    @Test("releasing a future neither cancels nor unregisters", arguments: Driver.allCases)
    func release(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            _ = promise.future.map { seen.add($0) }
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["1"])
        }
    }

    @Test("a request may come from a callback", arguments: Driver.allCases)
    func inCallback(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var later: Future<Void>?
            promise.future.whenSuccess { _ in seen.add("\(later!.cancel())") }
            later = promise.future.map { _ in seen.add("later") }
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["true"])
            later = nil
        }
    }

    @Test(
        "cancelling stops what the future waits for: a timer, a delay, a limit, an inner future",
        arguments: Driver.allCases)
    func reachesProducers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let futures = [
                loop.sleep(for: .seconds(100)),
                loop.schedule(after: .seconds(100)) {}.future,
                loop.succeeded().delay(by: .seconds(100)),
                promise.future.map { _ in }.timeout(after: .seconds(100)).map {},
                loop.succeeded(1).flatMap { _ in loop.sleep(for: .seconds(100)).flatMap { loop.succeeded() }
                },
            ]
            try settle(loop)
            #expect(loop.statistics.timers == 5)
            for future in futures { #expect(future.cancel()) }
            #expect(loop.statistics.timers == 0)
            #expect(!promise.succeed(1))
        }
    }
}
