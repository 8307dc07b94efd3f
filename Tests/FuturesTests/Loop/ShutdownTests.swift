import Futures
import Synchronization
import TestSupport
import Testing

struct ShutdownTests {
    @Test("shutdown fails what is pending and runs the callbacks of that", arguments: Driver.allCases)
    func pending(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let futures: [Future<Int>] = [
                promises[0].future,
                promises[1].future.map { $0 }.timeout(after: .seconds(100)),
                loop.succeeded(0).flatMap { _ in promises[2].future },
                loop.sleep(for: .seconds(100)).map { 0 },
                loop.schedule(after: .seconds(100)) { 0 }.future,
                loop.repeat(every: .seconds(100)) {}.future.map { 0 },
                loop.repeat(every: .seconds(100), onFailure: .continue) {}.future.map { 0 },
                loop.succeeded(0).delay(by: .seconds(100)),
                loop.retry(backoff: .constant(.seconds(100))) { _ in throw Failure() },
                Future.all([promises[0].future]).map { $0[0] },
                Future.race([promises[0].future]),
            ]
            try settle(loop)
            for future in futures {
                future.whenComplete { result in
                    if case .failure(FutureError.shutDown) = result {
                        seen.add("shut down")
                    } else {
                        seen.add(result)
                    }
                }
            }
            withExtendedLifetime(promises) { loop.shutdown() }
            #expect(seen.entries == Array(repeating: "shut down", count: futures.count))
            #expect(loop.core.isShutDown)
            loop.shutdown()
        }
    }

    @Test("shutdown runs what is ready", arguments: Driver.allCases)
    func ready(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.submit { seen.add("ready") }.whenSuccess {}
            for _ in 0..<2 * loop.turnBudget { loop.submit {}.whenSuccess {} }
            loop.submit { seen.add("late") }.whenSuccess {}
            loop.shutdown()
            #expect(seen.entries == ["ready", "late"])
        }
    }

    @Test("shutdown runs what a stopped loop has left for another turn, in order", arguments: Driver.allCases)
    func left(driver: Driver) throws {
        try withLoop(driver) { loop in
            var order: [Int] = []
            loop.turnBudget = 1
            for number in 0..<4 {
                loop.later(on: .nextTurn) {
                    order.append(number)
                    if number == 0 { loop.stop() }
                }
            }
            try loop.run()
            #expect(order == [0])
            loop.later(on: .whenIdle) { order.append(5) }
            loop.later(on: .nextTurn) { order.append(4) }
            loop.shutdown()
            #expect(order == [0, 1, 2, 3, 4, 5])
        }
    }

    @Test(
        "a callback that comes when shutdown releases a handler does not run, and fails",
        arguments: Driver.allCases)
    func releasedHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            var late: Future<Void>?
            do {
                let witness = Witness { late = loop.submit { Issue.record("it has run") } }
                loop.onUnhandledFailure = { _ in witness.look() }
            }
            loop.shutdown()
            #expect(throws: FutureError.shutDown) { try late?.result?.get() }
            late?.ignoreFailure()
        }
    }

    @Test("what callbacks start while the loop shuts down fails in its turn", arguments: Driver.allCases)
    func startedMeanwhile(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func again(_ left: Int) {
                seen.add(left)
                guard left > 0 else { return }
                let next =
                    left % 2 == 0 ? loop.sleep(for: .seconds(1)) : loop.makePromise(of: Void.self).future
                next.whenFailure { _ in again(left - 1) }
            }
            loop.sleep(for: .seconds(100)).whenFailure { _ in again(5) }
            loop.shutdown()
            #expect(seen.entries == ["5", "4", "3", "2", "1", "0"])
        }
    }

    @Test("jobs given before are run, later ones are refused", arguments: Driver.allCases)
    func jobs(driver: Driver) throws {
        try withLoop(driver) { loop in
            let counter = Counter()
            try onThread { #expect(loop.execute { counter.add() }) }
            #expect(loop.execute { counter.add() })
            loop.shutdown()
            #expect(counter.count == 2)
            #expect(!loop.execute { counter.add() })
            try onThread { #expect(!loop.execute { counter.add() }) }
            #expect(counter.count == 2)
        }
    }

    @Test(
        "nothing runs on a loop that has been shut down: all fails with shutDown", arguments: Driver.allCases)
    func afterwards(driver: Driver) throws {
        try withLoop(driver) { loop in
            let before = loop.succeeded(1)
            let pending = loop.makePromise(of: Int.self)
            loop.shutdown()
            func refuse(_ value: Int) -> Int {
                Issue.record("a closure has run")
                return value
            }
            let futures = [
                before.map(refuse), loop.submit { refuse(0) },
                loop.schedule(after: .zero) { refuse(0) }.future,
                before.flatMap { loop.succeeded(refuse($0)) }, pending.future.recover { _ in refuse(0) },
                loop.sleep(for: .zero).map { refuse(0) },
            ]
            for future in futures {
                #expect("\(future)" == "Future(failure: the event loop has been shut down; make a new one)")
                future.ignoreFailure()
            }
            before.whenComplete { _ = refuse((try? $0.get()) ?? 0) }
            #expect(throws: FutureError.shutDown) { try loop.run() }
            let late = loop.makePromise(of: Int.self)
            let derived = late.future.map(refuse)
            #expect(late.succeed(1))
            #expect(derived.isCompleted)
            derived.ignoreFailure()
        }
    }

    @Test("shutdown runs as many callbacks as there were", arguments: Driver.allCases)
    func many(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var (calls, last) = (0, promise.future)
            for _ in 0..<2 * longChain {
                last = last.recover { error in
                    calls += 1
                    throw error
                }
            }
            loop.shutdown()
            #expect(calls == 2 * longChain)
            #expect(throws: FutureError.shutDown) { try last.result?.get() }
            last.ignoreFailure()
        }
    }

    @Test(
        "failures that nobody hears of are reported by shutdown, and to nobody after it",
        arguments: Driver.allCases)
    func unhandled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add($0 as? Failure ?? Failure(-1)) }
            _ = loop.failed(Failure(1), of: Int.self)
            var held: Future<Int>? = loop.failed(Failure(2))
            loop.shutdown()
            #expect(seen.entries == ["Failure(code: 1)", "Failure(code: 2)"])
            #expect(held!.isCompleted)
            held = nil
            // To standard error.
            _ = loop.failed(Failure(3), of: Int.self)
            #expect(seen.entries.count == 2)
        }
    }

    @Test(
        "what the handler of unhandled failures starts while the loop shuts down fails in its turn",
        arguments: Driver.allCases)
    func startedByHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { _ in
                loop.sleep(for: .seconds(1)).whenFailure { _ in seen.add("ended") }
            }
            _ = loop.failed(Failure(1), of: Int.self)
            loop.shutdown()
            #expect(seen.entries == ["ended"])
        }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    func add() { value.withLock { $0 += 1 } }

    var count: Int { value.withLock { $0 } }
}
