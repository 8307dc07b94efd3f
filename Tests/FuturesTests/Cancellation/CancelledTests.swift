import Futures
import Testing

struct CancelledTests {
    @Test(
        "taps of cancellation run when their own future is cancelled, upstream first",
        arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
                .tapError(including: .onlyCancellation) { _ in seen.add("first") }
                .map { $0 + 1 }
                .tapError(including: .cancellation) { seen.add("second \($0 is CancellationError)") }
                .tapError(including: .onlyCancellation) { _ in seen.add("third") }
            #expect(future.cancel())
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries == ["first", "second true", "third"])
        }
    }

    @Test("taps of cancellation do not run for other outcomes", arguments: Driver.allCases)
    func others(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            func tapped(_ future: Future<Int>) -> Future<Int> {
                future.tapError(including: .onlyCancellation) { _ in seen.add("cancelled") }.tapError(
                    including: .cancellation
                ) { seen.add($0) }
            }
            try expect(tapped(loop.succeeded(1)), succeedsWith: 1)
            #expect(seen.entries.isEmpty)
            expect(tapped(loop.failed(Failure(2))), failsWith: Failure(2))
            #expect(seen.entries == ["Failure(code: 2)"])
            expectCancelled(tapped(loop.failed(CancellationError())))
            #expect(seen.entries == ["Failure(code: 2)", "cancelled", "CancellationError()"])
            let throwing = loop.failed(CancellationError(), of: Int.self).tapError(
                including: .onlyCancellation
            ) { _ in throw Failure(3) }
            expect(throwing, failsWith: Failure(3))
            let other = loop.failed(Failure(4), of: Int.self).tapError(including: .cancellation) { _ in
                throw Failure(5)
            }
            let both = #expect(throws: CleanUpError.self) { try loop.run(until: other) }
            #expect(both?.error as? Failure == Failure(4))
            #expect(both?.cleanUpError as? Failure == Failure(5))
        }
    }

    @Test("a tap of cancellation that is queued already runs once", arguments: Driver.allCases)
    func queued(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let tapped = loop.failed(CancellationError(), of: Int.self).tapError(including: .onlyCancellation)
            { _ in seen.add("tap") }
            #expect(tapped.cancel())
            try settle(loop)
            #expect(seen.entries == ["tap"])
            let value = loop.makePromise(of: Int.self)
            let late = value.future.tapError(including: .onlyCancellation) { _ in seen.add("none") }
            value.succeed(1)
            #expect(!late.cancel())
            try expect(late, succeedsWith: 1)
            #expect(seen.entries == ["tap"])
        }
    }

    @Test("cancellation from upstream is replaced, errors and values are not", arguments: Driver.allCases)
    func replace(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            let failed = loop.failed(Failure(1), of: Int.self)
            try expect(cancelled.recover(including: .onlyCancellation) { _ in 2 }, succeedsWith: 2)
            expect(
                cancelled.recover(including: .onlyCancellation) { _ in throw Failure(3) },
                failsWith: Failure(3))
            try expect(
                cancelled.flatMapError(including: .onlyCancellation) { _ in loop.submit { 4 } },
                succeedsWith: 4)
            expect(
                cancelled.flatMapError(including: .onlyCancellation) { _ in
                    Result<Int, Failure>.failure(Failure(5))
                }, failsWith: Failure(5)
            )
            expect(
                failed.recover(including: .onlyCancellation) { _ in 6 }.flatMapError(
                    including: .onlyCancellation
                ) { _ in loop.succeeded(7) }, failsWith: Failure(1))
            try expect(loop.succeeded(8).recover(including: .onlyCancellation) { _ in 9 }, succeedsWith: 8)
            let own = loop.makePromise(of: Int.self)
            let replaced = own.future.recover(including: .onlyCancellation) { _ in 10 }
            #expect(replaced.cancel())
            #expect(replaced.isCancelled)
        }
    }

    @Test("cancellation becomes an error, and an error cancellation", arguments: Driver.allCases)
    func conversion(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            expect(cancelled.cancellationAsFailure(), failsWith: FutureError.cancellationAsFailure)
            try expect(cancelled.cancellationAsFailure().recover { _ in 1 }, succeedsWith: 1)
            let failed = loop.failed(Failure(2), of: Int.self)
            expect(failed.cancellationAsFailure(), failsWith: Failure(2))
            expectCancelled(failed.failureAsCancellation())
            expectCancelled(failed.failureAsCancellation { $0 as? Failure == Failure(2) })
            expect(failed.failureAsCancellation { _ in false }, failsWith: Failure(2))
            expect(failed.failureAsCancellation { _ in throw Failure(3) }, failsWith: Failure(3))
            try expect(loop.succeeded(4).failureAsCancellation().cancellationAsFailure(), succeedsWith: 4)
        }
    }

    @Test(
        "a future that ignores cancellation runs on when what waits for it is cancelled",
        arguments: Driver.allCases)
    func ignoring(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                Issue.record("the request went upstream")
                return .cancel
            }
            let shielded = promise.future.ignoringCancellation()
            let derived = shielded.map { $0 }
            #expect(derived.cancel())
            #expect(derived.isCancelled && shielded.isCancelled)
            #expect(promise.succeed(1))
            try expect(promise.future.ignoringCancellation(), succeedsWith: 1)
            let failed = loop.failed(Failure(2), of: Int.self)
            expect(failed.ignoringCancellation(), failsWith: Failure(2))
            let pending = loop.makePromise(of: Int.self)
            let waiting = pending.future.ignoringCancellation()
            pending.cancel()
            #expect(waiting.isCancelled)
        }
    }

    /// When a body is cancelled that awaits what ignores cancellation.
    enum Moment: String, CaseIterable { case before, meanwhile, beforeAndMeanwhile }

    @Test(
        "a cancelled body awaits to its end what ignores cancellation, so it can clean up",
        arguments: Driver.allCases, Moment.allCases)
    func cleanUp(driver: Driver, moment: Moment) throws {
        try withLoop(driver) { loop in
            let (work, steps) = (
                loop.makePromise(of: Int.self), (0..<3).map { _ in loop.makePromise(of: Int.self) }
            )
            let seen = Record()
            func clean(_ step: Promise<Int>) async {
                do { seen.add("\(try await step.future.ignoringCancellation().value)") } catch {
                    seen.add("\(error)")
                }
            }
            let body = Future(on: loop) {
                if moment != .meanwhile { _ = try? await work.future.value }
                for step in steps { await clean(step) }
                do { _ = try await work.future.value } catch { seen.add("\(error)") }
                seen.add("ended")
            }
            body.ignoreFailure()
            try settle(loop)
            #expect(body.cancel())
            try settle(loop)
            if moment == .beforeAndMeanwhile { body.cancel() }
            #expect(body.isCancelled && seen.entries == [])
            steps[0].succeed(1)
            try settle(loop)
            steps[1].fail(Failure(2))
            try settle(loop)
            steps[2].cancel()
            try loop.run()
            #expect(
                seen.entries == ["1", "\(Failure(2))", "CancellationError()", "CancellationError()", "ended"])
        }
    }

    @Test(
        "what ignores cancellation is no longer awaited when the loop is shut down",
        arguments: Driver.allCases)
    func cleanUpAtShutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<2).map { _ in loop.makePromise(of: Int.self) }
            for (promise, isCancelled) in zip(promises, [false, true]) {
                let body = Future(on: loop) {
                    for _ in 0..<2 {
                        do { _ = try await promise.future.ignoringCancellation().value } catch {
                            seen.add("\(error)")
                        }
                    }
                }
                body.ignoreFailure()
                try settle(loop)
                if isCancelled { body.cancel() }
            }
            try settle(loop)
            loop.shutdown()
            withExtendedLifetime(promises) {}
            #expect(
                seen.entries.count == 4 && seen.entries.allSatisfy { $0.contains("shut") }, "\(seen.entries)")
        }
    }

    @Test("the first signal aborts a future that has no outcome yet", arguments: Driver.allCases)
    func abort(driver: Driver) throws {
        try withLoop(driver) { loop in
            func start() -> (Promise<Int>, [Promise<Void>], Future<Int>) {
                let promise = loop.makePromise(of: Int.self)
                let signals = [loop.makePromise(of: Void.self), loop.makePromise(of: Void.self)]
                return (promise, signals, promise.future.abort(when: signals.map(\.future)))
            }
            let (promise, signals, aborted) = start()
            signals[1].succeed()
            expect(aborted, failsWith: FutureError.aborted)
            #expect(promise.future.isCancelled)
            #expect(signals[0].succeed())

            let (other, others, failed) = start()
            others[0].fail(Failure(1))
            expect(failed, failsWith: Failure(1))
            #expect(!other.succeed(1) && others[1].succeed())

            let (third, thirds, done) = start()
            third.succeed(2)
            try expect(done, succeedsWith: 2)
            #expect(thirds[0].succeed() && thirds[1].succeed())

            let (fourth, fourths, cancelled) = start()
            #expect(cancelled.cancel())
            #expect(fourth.future.isCancelled)
            #expect(fourths[0].succeed() && fourths[1].succeed())
            try expect(loop.succeeded(3).abort(when: []), succeedsWith: 3)
        }
    }
}
