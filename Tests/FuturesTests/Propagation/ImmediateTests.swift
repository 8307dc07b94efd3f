import Futures
import TestSupport
import Testing

struct ImmediateTests {
    @Test(
        "a chain at once has run to its end when the promise has been completed", arguments: Driver.allCases)
    func immediateChain(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future.map(on: .immediate) { $0 + 1 }
                .flatMap(on: .immediate) { loop.succeeded($0 * 10) }
                .filter(on: .immediate) { $0 > 0 }
            promise.succeed(1)
            #expect("\(future)" == "Future(success: 20)")
            let late = future.map(on: .immediate) { $0 + 1 }
            #expect("\(late)" == "Future(success: 21)")
        }
    }

    @Test(
        "callbacks at once are nested twenty deep, and the deeper ones run from the queue",
        arguments: Driver.allCases)
    func depthGuard(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0...25).map { _ in loop.makePromise(of: Int.self) }
            var depth = 0
            var depths: [Int] = []
            for (promise, next) in zip(promises, promises.dropFirst()) {
                promise.future.whenSuccess(on: .immediate) { _ in
                    depth += 1
                    depths.append(depth)
                    next.succeed(1)
                    depth -= 1
                }
            }
            promises[0].succeed(1)
            #expect(depths == Array(1...20))
            try settle(loop)
            #expect(depths == Array(1...20) + [1, 2, 3, 4, 5])
        }
    }

    @Test("callbacks at once of the completed future of nothing do not wait for each other")
    func completedVoid() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let nested = loop.submit {
                loop.succeeded().whenSuccess(on: .immediate) {
                    loop.succeeded().whenSuccess(on: .immediate) { seen.add("inner") }
                    seen.add("outer")
                }
            }
            try loop.run(until: nested)
            #expect(seen.entries == ["inner", "outer"])
        }
    }

    @Test(
        "a callback at once that a callback of the same future adds runs before all others that wait",
        arguments: Driver.allCases, [true, false])
    func ownFuture(driver: Driver, isFollowed: Bool) throws {
        try withLoop(driver) { loop in
            var seen: [String] = []
            let future = loop.submit {}
            future.whenComplete { _ in
                future.whenComplete(on: .immediate) { _ in seen.append("own") }
                if isFollowed { loop.submit { seen.append("later") }.ignoreFailure() }
                seen.append("first")
            }
            try settle(loop)
            #expect(seen == ["first", "own"] + (isFollowed ? ["later"] : []))
        }
    }

    @Test("a long chain of callbacks at once needs little stack", arguments: Driver.allCases)
    func longImmediateChain(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var future = promise.future
            for _ in 0..<largeCount { future = future.map(on: .immediate) { $0 + 1 } }
            promise.succeed(0)
            try expect(future, succeedsWith: largeCount)
        }
    }

    @Test("all has changed when a callback runs at once", arguments: Driver.allCases)
    func immediateSeesTheWholeChange(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let first = loop.makePromise(of: Int.self)
            let second = loop.makePromise(of: Int.self)
            let winner = Future.race([first.future, second.future])
            winner.whenComplete(on: .immediate) { _ in seen.add("\(winner), \(second.future)") }
            first.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["Future(success: 1), Future(cancelled)"])
        }
    }

    @Test(
        "cancelling a chain runs callbacks at once when all of it has been cancelled",
        arguments: Driver.allCases)
    func immediateOnCancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var end: Future<Int>?
            let always = promise.future.always(on: .immediate) { seen.add("\(end!)") }
            end = always.map { $0 }
            #expect(end!.cancel())
            #expect(seen.entries == ["Future(cancelled)"])
            #expect(!promise.succeed(1))
        }
    }

    @Test("callbacks at once may register, complete, cancel and drop", arguments: Driver.allCases)
    func immediateReentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            let future = promise!.future
            let other = loop.makePromise(of: Int.self)
            let doomed = other.future.map { $0 }
            var own: Future<Int>?
            own = future.map(on: .immediate) { value in
                promise = nil
                doomed.cancel()
                own!.cancel()
                future.whenSuccess(on: .immediate) { seen.add("again \($0)") }
                future.whenSuccess { seen.add("queued \($0)") }
                return value
            }
            future.whenSuccess(on: .immediate) { seen.add("next \($0)") }
            promise!.succeed(1)
            #expect("\(doomed)" == "Future(cancelled)")
            #expect("\(own!)" == "Future(cancelled)")
            try settle(loop)
            #expect(seen.entries == ["next 1", "again 1", "queued 1"])
        }
    }

    @Test(
        "a callback that completes another future is interrupted by the callbacks of that one alone",
        arguments: Driver.allCases)
    func nestedCompletion(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            for (index, promise) in promises.enumerated() {
                for name in ["a", "b"] {
                    promise.future.whenSuccess(on: .immediate) { _ in
                        seen.add("\(index)\(name)")
                        if name == "a", index < 3 { promises[index + 1].succeed(1) }
                        // Too late: of a future whose callbacks run.
                        promises[0].future.whenSuccess(on: .immediate) { _ in seen.add("late \(index)\(name)")
                        }
                        seen.add("end of \(index)\(name)")
                    }
                }
            }
            promises[0].succeed(1)
            #expect(
                seen.entries == [
                    "0a", "1a", "2a", "3a", "end of 3a", "3b", "end of 3b", "end of 2a", "2b", "end of 2b",
                    "end of 1a", "1b", "end of 1b", "end of 0a", "0b", "end of 0b",
                    "late 3a", "late 3b", "late 2a", "late 2b", "late 1a", "late 1b", "late 0a", "late 0b",
                ])
        }
    }

    @Test("a callback at once hears of a promise that is dropped", arguments: Driver.allCases)
    func immediateOnDrop(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            promise!.future.whenFailure(on: .immediate) { _ in seen.add("broken") }
            promise = nil
            #expect(seen.entries == ["broken"])
        }
    }

    @Test("a callback at once knows its loop outside of run too", arguments: Driver.allCases)
    func immediateKnowsItsLoop(driver: Driver) throws {
        try withLoop(driver) { loop in
            let empty = loop.succeeded(1).flatMap(on: .immediate) { _ in Future<Int>.all([]) }
            #expect("\(empty)" == "Future(success: [])")
            #expect(EventLoop.current == nil)
        }
    }
}
