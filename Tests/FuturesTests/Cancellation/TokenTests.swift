import Futures
import Testing

/// What a token does to the one registration that it was given to.
struct TokenTests {
    @Test(
        "cancelling a token ends one registration now, and neither its source nor its siblings notice",
        arguments: Driver.allCases, RegisteringMethod.allCases)
    func cancelPending(driver: Driver, method: RegisteringMethod) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            var isReleased = false
            promise.future.whenSuccess { _ in seen.add("before") }
            let derived: Future<Int>?
            do {
                let witness = Witness { isReleased = true }
                derived = method.register(on: promise.future, token: source.token) {
                    witness.look()
                    seen.add("token")
                }
            }
            promise.future.whenSuccess { _ in seen.add("after") }
            #expect(derived?.isCompleted != true)
            source.cancel()
            if let derived { #expect("\(derived)" == "Future(cancelled)") }
            #expect(isReleased != method.hearsOfTokens)
            #expect(!promise.future.isCompleted)
            try settle(loop)
            #expect(isReleased)
            #expect(seen.entries == (method.hearsOfTokens ? ["token"] : []))
            #expect(promise.succeed(1))
            try settle(loop)
            #expect(seen.entries.suffix(2) == ["before", "after"])
            #expect(seen.entries.count == (method.hearsOfTokens ? 3 : 2))
        }
    }

    @Test(
        "a callback that has its future finds it pending when only its token was cancelled",
        arguments: Driver.allCases)
    func capturedFuture(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            future.whenComplete(token: source.token) { result in
                seen.add(result)
                seen.add(future)
            }
            future.whenComplete { _ in seen.add(future) }
            source.cancel()
            try settle(loop)
            #expect(seen.entries == ["cancelled", "Future(pending)"])
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["cancelled", "Future(pending)", "Future(success: 1)"])
        }
    }

    @Test(
        "a token that is cancelled already wins over any outcome, or none",
        arguments: Driver.allCases, RegisteringMethod.allCases)
    func cancelledBefore(driver: Driver, method: RegisteringMethod) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            source.cancel()
            for outcome in Outcome.allCases {
                for isEarly in [true, false] {
                    let seen = Record()
                    let promise = loop.makePromise(of: Int.self)
                    promise.future.ignoreFailure()
                    if !isEarly { outcome.complete(promise) }
                    let derived = method.register(on: promise.future, token: source.token) {
                        seen.add("token")
                    }
                    if let derived { #expect("\(derived)" == "Future(cancelled)") }
                    if isEarly { outcome.complete(promise) }
                    #expect(seen.entries.isEmpty)
                    try settle(loop)
                    #expect(seen.entries == (method.hearsOfTokens ? ["token"] : []))
                }
            }
        }
    }

    @Test(
        "a callback that is on its way is delivered although its token is cancelled",
        arguments: Driver.allCases, RegisteringMethod.allCases)
    func cancelledOnTheWay(driver: Driver, method: RegisteringMethod) throws {
        try withLoop(driver) { loop in
            for outcome in Outcome.allCases {
                for isEarly in [true, false] {
                    let seen = Record()
                    let source = CancellationSource(on: loop)
                    let promise = loop.makePromise(of: Int.self)
                    promise.future.ignoreFailure()
                    if !isEarly { outcome.complete(promise) }
                    let derived = method.register(on: promise.future, token: source.token) {
                        seen.add("token")
                    }
                    derived?.ignoreFailure()
                    if isEarly { outcome.complete(promise) }
                    source.cancel()
                    try settle(loop)
                    #expect(seen.entries == (method.wanted.contains(outcome) ? ["token"] : []))
                    if outcome == .success, let derived {
                        try expect(derived, succeedsWith: 1)
                    }
                }
            }
        }
    }

    @Test("an observer of outcomes is told of a token's cancellation as an error", arguments: Driver.allCases)
    func observersHear(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenComplete(token: source.token) { seen.add($0) }
            promise.future.whenComplete(on: .immediate, token: source.token) { result in
                seen.add("at once")
                seen.add(result)
            }
            let done = loop.succeeded(1)
            source.cancel()
            #expect(seen.entries == ["at once", "cancelled"])
            done.whenComplete(token: source.token) { seen.add($0) }
            try settle(loop)
            #expect(seen.entries == ["at once", "cancelled", "cancelled", "cancelled"])
            #expect(promise.succeed(1))
            try settle(loop)
            #expect(seen.entries.count == 4)
        }
    }

    @Test("a token reaches the future that a callback has returned", arguments: Driver.allCases)
    func innerFuture(driver: Driver) throws {
        try withLoop(driver) { loop in
            for hasOtherConsumer in [false, true] {
                let source = CancellationSource(on: loop)
                let inner = loop.makePromise(of: Int.self)
                if hasOtherConsumer { inner.future.whenComplete { _ in } }
                let outer = loop.succeeded(1).flatMap(token: source.token) { _ in inner.future }
                let end = outer.map { $0 }
                try settle(loop)
                source.cancel()
                #expect("\(outer), \(end)" == "Future(cancelled), Future(cancelled)")
                #expect(inner.succeed(1) == hasOtherConsumer)
            }
        }
    }

    @Test("a token does not wait for a producer that goes on", arguments: Driver.allCases)
    func producerGoesOn(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let inner = loop.makePromise(of: Int.self)
            inner.onCancelRequest { .continue }
            let outer = loop.succeeded(1).flatMap(token: source.token) { _ in inner.future }
            try settle(loop)
            source.cancel()
            #expect("\(outer)" == "Future(cancelled)")
            #expect(inner.succeed(1))
        }
    }

    @Test("a callback may cancel its own token", arguments: Driver.allCases)
    func cancelFromWithin(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let inner = loop.makePromise(of: Int.self)
            let outer = loop.succeeded(1).flatMap(token: source.token) { _ in
                source.cancel()
                return inner.future
            }
            let mapped = loop.succeeded(1).map(token: source.token) { $0 + 1 }
            expectCancelled(outer)
            try expect(mapped, succeedsWith: 2)
            withExtendedLifetime(inner) {}
        }
    }

    @Test("a chain with one token is cancelled from its first pending link on", arguments: Driver.allCases)
    func chain(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let first = promise.future.map(token: source.token) { $0 }
            let second = first.map(token: source.token) { $0 }
            let third = second.recover { _ in 3 }
            let caught = second.recover(including: .cancellation) { _ in 4 }
            source.cancel()
            #expect(
                "\(first), \(second), \(third)" == "Future(cancelled), Future(cancelled), Future(cancelled)")
            try expect(caught, succeedsWith: 4)
            #expect(promise.succeed(1))
        }
    }

    @Test("a future with a token still passes on cancel requests", arguments: Driver.allCases)
    func cancelRequest(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let end = promise.future.map(token: source.token) { $0 }.map { $0 }
            #expect(end.cancel())
            #expect(promise.future.isCompleted)
            source.cancel()
        }
    }

    @Test("a token stops a delay's timer, before and after the value is there", arguments: Driver.allCases)
    func delay(driver: Driver) throws {
        try withLoop(driver) { loop in
            for isCompleted in [false, true] {
                let source = CancellationSource(on: loop)
                let promise = loop.makePromise(of: Int.self)
                if isCompleted { promise.succeed(1) }
                let delayed = promise.future.delay(by: .seconds(60), token: source.token)
                try settle(loop)
                #expect(loop.statistics.timers == (isCompleted ? 1 : 0))
                source.cancel()
                #expect("\(delayed)" == "Future(cancelled)")
                #expect(loop.statistics.timers == 0)
                #expect(promise.succeed(1) == !isCompleted)
            }
        }
    }

    @Test("a token ends a time limit and leaves its source alone", arguments: Driver.allCases)
    func timeout(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let limited = promise.future.timeout(after: .seconds(60), token: source.token)
            let late = promise.future.timeout(after: .ticks(1), token: source.token)
            #expect(loop.statistics.timers == 2)
            expect(late, failsWith: FutureError.timedOut(after: .ticks(1)))
            source.cancel()
            #expect("\(limited)" == "Future(cancelled)")
            #expect(loop.statistics.timers == 0)
            expectCancelled(loop.succeeded(1).timeout(after: .seconds(1), token: source.token))
            #expect(promise.succeed(1))

            let other = loop.makePromise(of: Int.self)
            let alone = other.future.timeout(after: .ticks(1), token: CancellationSource(on: loop).token)
            expect(alone, failsWith: FutureError.timedOut(after: .ticks(1)))
            #expect(!other.succeed(1))
        }
    }

    @Test("a token ends sleeping, waiting jobs, retries and repetitions", arguments: Driver.allCases)
    func work(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let token = source.token
            let sleep = loop.sleep(for: .seconds(60), token: token)
            let job = loop.submit(on: .whenIdle, token: token) { seen.add("job") }
            let attempt = loop.makePromise(of: Int.self)
            let trying = loop.retry(token: token) { _ in attempt.future }
            let waiting = loop.retry(backoff: .constant(.seconds(60)), token: token) { _ -> Future<Int> in
                seen.add("attempt")
                throw Failure()
            }
            let repetition = loop.repeat(every: .seconds(60), token: token) { seen.add("repetition") }
            loop.submit { source.cancel() }.whenComplete { _ in }
            try settle(loop)
            expectCancelled(sleep)
            expectCancelled(job)
            expectCancelled(trying)
            expectCancelled(waiting)
            expectCancelled(repetition.future)
            #expect(!attempt.succeed(1))
            #expect(loop.statistics.timers == 0)
            #expect(seen.entries == ["attempt"])

            expectCancelled(loop.sleep(for: .seconds(60), token: token))
            expectCancelled(loop.submit(token: token) { seen.add("job") })
            expectCancelled(loop.retry(token: token) { _ in loop.submit { seen.add("attempt") } })
            expectCancelled(loop.repeat(every: .ticks(1), token: token) { seen.add("repetition") }.future)
            #expect(loop.statistics.timers == 0)
            try pass(.ticks(1), on: loop)
            #expect(seen.entries == ["attempt"])
        }
    }

    @Test("a repetition with a token can be cancelled by its task too", arguments: Driver.allCases)
    func taskWithToken(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let task = loop.repeat(every: .seconds(60), token: source.token) {}
            #expect(task.cancel())
            #expect(loop.statistics.timers == 0)
            source.cancel()
        }
    }

    @Test(
        "a registration with a token outlives neither a broken promise nor the token's source",
        arguments: Driver.allCases)
    func brokenPromise(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var source: CancellationSource? = CancellationSource(on: loop)
            var promise: Promise<Int>? = loop.makePromise(of: Int.self)
            promise!.future.whenFailure(token: source!.token) { _ in seen.add("broken") }
            let other = loop.makePromise(of: Int.self)
            let mapped = other.future.map(token: source!.token) { $0 + 1 }
            promise = nil
            try settle(loop)
            #expect(seen.entries == ["broken"])
            source = nil
            other.succeed(1)
            try expect(mapped, succeedsWith: 2)
        }
    }
}
