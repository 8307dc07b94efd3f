import Futures
import Testing

struct DeferredTests {
    @Test("nothing happens before the start, and each start does it all again", arguments: Driver.allCases)
    func cold(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let work = Deferred {
                runs += 1
                return loop.submit { runs }
            }
            let tenfold = work.map { $0 * 10 }
            try settle(loop)
            #expect(runs == 0)
            try expect(tenfold.start(on: loop), succeedsWith: 10)
            try expect(tenfold.start(on: loop), succeedsWith: 20)
            try expect(work.start(on: loop), succeedsWith: 3)
        }
    }

    @Test(
        "start calls its completion with each outcome, on the current loop in a callback",
        arguments: Driver.allCases)
    func completion(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var runs = 0
            let work = Deferred<Int> { promise in
                runs += 1
                if runs == 2 { throw Failure(runs) }
                promise.succeed(runs)
                #expect(!promise.succeed(9))
            }
            work.start(on: loop).whenComplete { seen.add($0) }
            work.start(on: loop).whenComplete { seen.add($0) }
            #expect(seen.entries == [])
            try loop.run(until: loop.submit { work.start().whenComplete { seen.add($0) } })
            try settle(loop)
            #expect(seen.entries == ["1", "failed: Failure(code: 2)", "3"])
        }
    }

    @Test(
        "a recipe that throws fails the future, and a made outcome comes each time",
        arguments: Driver.allCases)
    func outcomes(driver: Driver) throws {
        try withLoop(driver) { loop in
            let throwing = Deferred { () -> Future<Int> in throw Failure(1) }
            expect(throwing.start(on: loop), failsWith: Failure(1))
            try expect(Deferred.completed(.success(2)).start(on: loop), succeedsWith: 2)
            expect(Deferred<Int>.completed(.failure(Failure(3))).start(on: loop), failsWith: Failure(3))
            expectCancelled(Deferred<Int>.completed(.failure(CancellationError())).start(on: loop))
            try expect(Deferred<Int>.completed(.success(4)).start(on: loop), succeedsWith: 4)
            expect(
                throwing.map { $0 }.transform { $0.timeout(after: .zero) }.start(on: loop),
                failsWith: Failure(1))
        }
    }

    @Test("a delay and a time limit count from each run")
    func time() throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            let delayed = Deferred.completed(.success(1)).transform { $0.delay(by: .seconds(2)) }
            try expect(delayed.start(on: loop), succeedsWith: 1)
            try expect(delayed.start(on: loop), succeedsWith: 1)
            #expect(start.duration(to: loop.now) == .seconds(4))
            let limited = delayed.transform { $0.timeout(after: .seconds(1)) }
            for _ in 0..<2 {
                expect(limited.start(on: loop), failsWith: FutureError.timedOut(after: .seconds(1)))
            }
            #expect(start.duration(to: loop.now) == .seconds(6))
        }
    }

    @Test("cancelling what was started reaches the work", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let work = Deferred { promise.future }.map { $0 }.transform { $0.delay(by: .seconds(1)) }
            #expect(work.start(on: loop).cancel())
            #expect("\(promise.future)" == "Future(cancelled)")
            expectCancelled(work.start(on: loop))
        }
    }

    @Test("a recipe and its closures are released with the deferred", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func make() -> Deferred<Int> {
                let witness = Witness()
                captured = witness
                return Deferred {
                    witness.look()
                    return loop.submit { 1 }
                }.onErrorRepeat().repeatAndCollect(repetitions: 1).map { $0.count }
            }
            var work: Deferred<Int>? = make()
            try expect(work!.start(on: loop), succeedsWith: 2)
            #expect(captured != nil)
            work = nil
            #expect(captured == nil)
        }
    }
}
