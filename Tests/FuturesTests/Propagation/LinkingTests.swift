import Futures
import TestSupport
import Testing

struct LinkingTests {
    /// Runs the loop that `chain` makes of the step it gets, and expects few futures at any time.
    private func expectFewFutures(
        on loop: EventLoop, steps: Int = 10_000, _ chain: (@escaping () -> Future<Int>) -> Future<Int>
    ) throws {
        var (done, peak) = (0, 0)
        let end = chain {
            done += 1
            peak = max(peak, loop.statistics.futures)
            return done < steps ? loop.succeeded(done) : loop.failed(Failure(done))
        }
        expect(end, failsWith: Failure(steps))
        #expect(peak < 20)
    }

    @Test(
        "a recursive loop of flatMaps runs in constant memory, on a small stack, its steps being ready",
        arguments: Driver.allCases
    )
    func readySteps(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            try expectFewFutures(on: loop, steps: longChain) { step in
                func again() -> Future<Int> { step().flatMap { _ in again() } }
                return again()
            }
        }
    }

    @Test(
        "a recursive loop of flatMaps runs in constant memory, its steps being pending",
        arguments: Driver.allCases
    )
    func pendingSteps(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expectFewFutures(on: loop) { step in
                func again() -> Future<Int> {
                    let promise = loop.makePromise(of: Int.self)
                    loop.succeeded().whenSuccess { promise.complete(using: step()) }
                    return promise.future.flatMap { _ in again() }
                }
                return again()
            }
        }
    }

    @Test("a recursive loop whose steps wait for timers runs in constant memory")
    func timedSteps() throws {
        try withLoop(.virtual) { loop in
            try expectFewFutures(on: loop) { step in
                func again() -> Future<Int> {
                    loop.sleep(for: .seconds(1)).flatMap(step).flatMap { _ in again() }
                }
                return again()
            }
        }
    }

    @Test("a recursive loop of the other combinators runs in constant memory", arguments: Driver.allCases)
    func otherCombinators(driver: Driver) throws {
        try withLoop(driver) { loop in
            try expectFewFutures(on: loop) { step in
                func again() -> Future<Int> {
                    step().flatMapResult { result in
                        if case .failure(let error) = result { throw error }
                        return loop.failed(Failure()).flatMapError { _ in again() }
                    }
                }
                return again()
            }
        }
    }

    @Test(
        "a linked future is the outer one: same outcome, same order of callbacks",
        arguments: Driver.allCases
    )
    func isTheOuter(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let inner = promise.future.map { $0 + 1 }
            let outer = loop.succeeded(0).flatMap { _ in inner }
            outer.whenSuccess { seen.add("outer \($0)") }
            try settle(loop)
            inner.whenSuccess { seen.add("inner \($0)") }
            outer.whenSuccess { seen.add("outer again \($0)") }
            #expect(!inner.cancel())
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["outer 2", "inner 2", "outer again 2"])
            #expect("\(inner)" == "Future(success: 2)")
            try expect(inner, succeedsWith: 2)
        }
    }

    @Test(
        "a linked future keeps its identity through any number of links",
        arguments: Driver.allCases, [false, true]
    )
    func pathsOfLinks(driver: Driver, innermostFirst: Bool) throws {
        try withLoop(driver) { loop in
            let count = 50
            let starts = (0..<count).map { _ in loop.makePromise(of: Void.self) }
            let end = loop.makePromise(of: Int.self)
            var handles = [end.future]
            for start in starts {
                let inner = handles.last!
                handles.append(start.future.flatMap { inner })
            }
            for start in innermostFirst ? starts : starts.reversed() {
                start.succeed()
                try settle(loop)
            }
            end.succeed(1)
            for handle in handles { #expect("\(handle)" == "Future(success: 1)") }
        }
    }

    @Test(
        "a failure, a value or a cancellation gets through a linked future that has no use for it",
        arguments: Driver.allCases)
    func passThroughLinked(driver: Driver) throws {
        try withLoop(driver) { loop in
            func expectOutcome(_ expected: String, after complete: (Promise<Int>) -> Bool) throws {
                let seen = Record()
                let promise = loop.makePromise(of: Int.self)
                let mapped = loop.succeeded(0).flatMapResult { _ in
                    promise.future.map { $0 }.recover { throw $0 }
                }
                mapped.whenComplete { seen.add($0) }
                try settle(loop)
                #expect(complete(promise))
                try settle(loop)
                #expect(seen.entries == [expected])
            }
            try expectOutcome("1") { $0.succeed(1) }
            try expectOutcome("failed: Failure(code: 2)") { $0.fail(Failure(2)) }
            try expectOutcome("cancelled") { $0.cancel() }
        }
    }

    @Test("a promise that waits for a shared future can be linked", arguments: Driver.allCases)
    func subscribedThenLinked(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let shared = loop.makePromise(of: Int.self)
            shared.future.whenComplete { seen.add($0) }
            let promise = loop.makePromise(of: Int.self)
            promise.complete(using: shared.future)
            let outer = loop.succeeded(0).flatMap { _ in promise.future }
            outer.whenComplete { seen.add($0) }
            try settle(loop)
            shared.succeed(5)
            try settle(loop)
            #expect(seen.entries == ["5", "5"])
        }
    }

    @Test(
        "a shared future serves all who return it, and cancelling one of them leaves it alone",
        arguments: Driver.allCases)
    func sharedInner(driver: Driver) throws {
        try withLoop(driver) { loop in
            let shared = loop.makePromise(of: Int.self)
            shared.future.whenComplete { _ in }
            let outers = (0..<3).map { index in loop.succeeded(index).flatMap { _ in shared.future } }
            try settle(loop)
            #expect(outers[0].cancel())
            #expect(shared.succeed(1))
            #expect("\(outers[0])" == "Future(cancelled)")
            for outer in outers[1...] { try expect(outer, succeedsWith: 1) }
        }
    }

    @Test("a future whose producer answers requests is not hidden behind a link", arguments: Driver.allCases)
    func innerWithHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("asked")
                return .complete(.success(3))
            }
            let outer = loop.succeeded(0).flatMap { _ in promise.future }
            try settle(loop)
            #expect(outer.cancel())
            #expect(seen.entries == ["asked"])
            try expect(outer, succeedsWith: 3)
        }
    }

    @Test(
        "a handler that is set after the link is asked as well, and released at the end",
        arguments: Driver.allCases
    )
    func handlerAfterLink(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func outer(_ response: CancelResponse<Int>) throws -> (Future<Int>, Promise<Int>) {
                let promise = loop.makePromise(of: Int.self)
                let outer = loop.succeeded(0).flatMap { _ in promise.future }
                try settle(loop)
                promise.onCancelRequest {
                    seen.add("asked \(promise.future.isCompleted)")
                    return response
                }
                return (outer, promise)
            }
            let (cancelled, _) = try outer(.cancel)
            #expect(cancelled.cancel())
            #expect("\(cancelled)" == "Future(cancelled)")
            let (replaced, _) = try outer(.complete(.success(1)))
            #expect(replaced.cancel())
            try expect(replaced, succeedsWith: 1)
            let (continued, promise) = try outer(.continue)
            #expect(continued.cancel())
            promise.succeed(2)
            try expect(continued, succeedsWith: 2)
            #expect(seen.entries == ["asked false", "asked false", "asked false"])
        }
    }

    @Test("a request to cancel travels up through links", arguments: Driver.allCases)
    func cancelThroughLinks(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            let promise = loop.makePromise(of: Int.self)
            func inner() -> Future<Int> {
                let witness = Witness()
                captured = witness
                return promise.future.map { value in
                    witness.look()
                    return value
                }
            }
            let outer = loop.succeeded(0).flatMap { _ in loop.submit {}.flatMap { inner() } }.map { $0 }
            try settle(loop)
            #expect(captured != nil)
            #expect(outer.cancel())
            #expect(captured == nil)
            #expect(!promise.succeed(1))
        }
    }

    @Test("a future that returns itself fails with cycle", arguments: Driver.allCases)
    func cycle(driver: Driver) throws {
        try withLoop(driver) { loop in
            var itself: Future<Int>?
            itself = loop.submit {}.flatMap { itself! }
            expect(itself!, failsWith: FutureError.cycle)
            itself = loop.submit {}.flatMap { itself!.map { $0 + 1 } }
            expect(itself!, failsWith: FutureError.cycle)
            itself = nil
        }
    }

    @Test("a broken promise breaks what it is linked to", arguments: Driver.allCases)
    func brokenWhileLinked(driver: Driver) throws {
        try withLoop(driver) { loop in
            var promise: Promise<Int>? = loop.makePromise(of: Int.self, file: "here", line: 1)
            let inner = promise!.future
            let outer = loop.succeeded(0).flatMap { _ in inner }
            try settle(loop)
            promise = nil
            expect(outer, failsWith: FutureError.brokenPromise(file: "here", line: 1))
        }
    }

    @Test("a future is returned again after those it was linked to were dropped", arguments: Driver.allCases)
    func linkedAgain(driver: Driver) throws {
        try withLoop(driver) { loop in
            let shared = loop.makePromise(of: Int.self)
            for index in 0..<3 {
                loop.succeeded(index).flatMap { _ in shared.future }.ignoreFailure()
                try settle(loop)
            }
            let outer = loop.succeeded(0).flatMap { _ in shared.future }
            try settle(loop)
            #expect(loop.statistics.futures == 2)
            shared.succeed(1)
            try expect(outer, succeedsWith: 1)
        }
    }

    @Test("a handler may return its future again while it is asked", arguments: Driver.allCases)
    func linkedByHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            loop.succeeded(0).flatMap { _ in promise.future }.ignoreFailure()
            try settle(loop)
            var outer: Future<Int>?
            promise.onCancelRequest {
                outer = loop.succeeded(0).flatMap(on: .immediate) { _ in promise.future }
                return .cancel
            }
            #expect(promise.future.cancel())
            promise.succeed(1)
            try expect(outer!, succeedsWith: 1)
        }
    }
}
