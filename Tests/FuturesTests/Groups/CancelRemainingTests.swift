import Futures
import Testing

struct CancelRemainingTests {
    @Test(
        "a group told to cancel the rest on failure only leaves it alone when an input is cancelled",
        arguments: Driver.allCases)
    func onFailureOnly(driver: Driver) throws {
        try withLoop(driver) { loop in
            func group() -> ([Promise<Int>], Future<[Int]>) {
                let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
                return (promises, Future.all(promises.map(\.future), cancelRemaining: .onFailure))
            }
            let (cancelled, first) = group()
            cancelled[0].cancel()
            expectCancelled(first)
            #expect(!cancelled[1].future.isCompleted)
            let (failed, second) = group()
            failed[0].fail(Failure(1))
            expect(second, failsWith: Failure(1))
            #expect("\(failed[1].future)" == "Future(cancelled)")
            let (unwanted, third) = group()
            #expect(third.cancel())
            #expect("\(unwanted[2].future)" == "Future(cancelled)")
            withExtendedLifetime(cancelled) {}
        }
    }

    @Test("groups keep the rest running if told so", arguments: Driver.allCases)
    func keepsRemaining(driver: Driver) throws {
        try withLoop(driver) { loop in
            let rest = loop.makePromise(of: Int.self)
            let all = Future.all([rest.future, loop.failed(Failure(1))], cancelRemaining: false)
            expect(all, failsWith: Failure(1))
            try expect(
                Future.race([rest.future, loop.succeeded(2)], cancelRemaining: false), succeedsWith: 2)
            let unwanted = Future.race([rest.future], cancelRemaining: false)
            #expect(unwanted.cancel())
            #expect(!rest.future.isCompleted)
            try expect(rest.future.and(loop.submit { rest.succeed(5) }).map { $0.0 }, succeedsWith: 5)
        }
    }

    @Test("a group that is over when it is made has told all that hears at once, and reports no failure")
    func overAtOnce() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { seen.add("reported \($0)") }
            let (rest, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            rest.onCancelRequest {
                other.succeed(1)
                return .cancel
            }
            other.future.whenSuccess(on: .immediate) { seen.add("told \($0)") }
            let race = Future.race([loop.succeeded(2), loop.failed(Failure(3)), rest.future])
            #expect(seen.entries == ["told 1"])
            try expect(race, succeedsWith: 2)
            try settle(loop)
            #expect(seen.entries == ["told 1"])
        }
    }

    @Test("true and false mean always and never")
    func literals() {
        #expect(([true, false] as [CancelRemaining]) == [.always, .never])
    }
}
