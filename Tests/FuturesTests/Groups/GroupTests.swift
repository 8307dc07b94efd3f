import Futures
import Testing

/// When a group changes: together with its members.
struct GroupTests {
    private struct Verb: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What it makes of one input that fails: the failure, or something else.
        let fails: Bool
        /// Makes it of one future that decides, and of some that do not matter.
        let make: @Sendable (Future<Int>, Future<Int>) -> Future<Void>

        init(
            _ name: String, fails: Bool = true,
            _ make: @escaping @Sendable (Future<Int>, Future<Int>) -> Future<Void>
        ) {
            (testDescription, self.fails, self.make) = (name, fails, make)
        }
    }

    private static let verbs = [
        Verb("all") { Future.all([$0, $1]).asVoid() },
        Verb("all of one twice") { first, _ in Future.all([first, first]).asVoid() },
        Verb("all, not fast") { first, _ in Future.all([first, first], failFast: false).asVoid() },
        Verb("all of all") { Future.all([Future.all([$0, $1])]).asVoid() },
        Verb("all, with a handler") { Future.all([$0, $1], onFirstFailure: { _, _ in }).asVoid() },
        Verb("race") { Future.race([$1, $0]).asVoid() },
        Verb("firstSuccess") { first, _ in Future.firstSuccess([first, first]).asVoid() },
        Verb("sequence") { Future.sequence([$0, $1]).asVoid() },
        Verb("reduce(into:)") { Future.reduce([$0, $1], into: 0) { $0 += $1 }.asVoid() },
        Verb("reduce") { Future.reduce([$0, $1], 0) { $0 + $1 }.asVoid() },
        Verb("fold") { first, other in
            Future.fold([first, other], 0) { first.loop.succeeded($0 + $1) }.asVoid()
        },
        Verb("combine") { combine($1, $0, $1).asVoid() },
        Verb("and") { $0.and($1).asVoid() },
        Verb("and, the other way round") { $1.and($0).asVoid() },
        Verb("select") { Future.select($1, or: $0).asVoid() },
        Verb("traverse") { first, other in first.loop.traverse([other, first]) { $0 }.asVoid() },
        Verb("traverse, one by one") { first, _ in
            first.loop.traverse([first], maxConcurrent: 1) { $0 }.asVoid()
        },
        Verb("forEach") { first, _ in first.loop.forEach([first]) { $0 } },
        Verb("repeat(times:)") { first, _ in first.loop.repeat(times: 3) { _ in first } },
        Verb("repeat(while:)") { first, _ in first.loop.repeat(while: { true }) { first } },
        Verb("abort") { first, _ in first.abort(when: []).asVoid() },
        Verb("typed all") { first, other in
            TypedFuture.all([other.typed { _ in Failure() }, first.typed { _ in Failure() }]).erased.asVoid()
        },
        Verb("typed race") { first, _ in TypedFuture.race([first.typed { _ in Failure() }]).erased.asVoid() },
        Verb("Deferred.and") { first, other in
            Deferred { first }.and(Deferred { other }).start(on: first.loop).asVoid()
        },
        Verb("allSettled", fails: false) { first, _ in Future.allSettled([first]).asVoid() },
        Verb("firstCompleted", fails: false) { Future.firstCompleted(1, of: [$1, $0]).asVoid() },
        Verb("select(from:)", fails: false) { Future.select(from: [$1, $0]).asVoid() },
    ]

    @Test(
        "a group has failed when its member has, so that no cancel can lose the error",
        arguments: Driver.allCases, verbs)
    private func failure(driver: Driver, verb: Verb) throws {
        try withLoop(driver) { loop in
            for isEarly in [true, false] {
                let seen = Record()
                loop.onUnhandledFailure = { seen.add($0) }
                let promise = loop.makePromise(of: Int.self)
                let never = loop.makePromise(of: Int.self)
                if isEarly { promise.fail(Failure(7)) }
                let group = verb.make(promise.future, never.future)
                if !isEarly { promise.fail(Failure(7)) }
                // Typed futures are converted in a callback of their own.
                let wasCompleted = group.isCompleted
                if verb.fails, !verb.testDescription.hasPrefix("typed") { #expect(wasCompleted) }
                if wasCompleted { #expect(!group.cancel()) }
                try settle(loop)
                if verb.fails, wasCompleted { #expect(group.result.map { "\($0)" }?.contains("7") == true) }
                never.cancel()
                try settle(loop)
            }
            // Neither here nor at its end are failures to be printed: finding a place takes its time.
            loop.onUnhandledFailure = { _ in }
        }
    }

    @Test(
        "the future of a group is completed within the call that completes its last member",
        arguments: Driver.allCases)
    func atOnce(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let futures = promises.map(\.future)
            let all = Future.all(futures)
            let settled = Future.allSettled(futures)
            let nested = Future.all([Future.all(futures), Future.sequence(futures)])
            let both = combine(futures[0], futures[2])
            let race = Future.race(futures)
            let count = Future.firstCompleted(2, of: futures)
            promises[1].succeed(2)
            #expect("\(race)" == "Future(success: 2)" && !count.isCompleted)
            promises[0].succeed(1)
            #expect(count.isCompleted && !all.isCompleted && !settled.isCompleted && !both.isCompleted)
            promises[2].succeed(3)
            #expect("\(all)" == "Future(success: [1, 2, 3])" && settled.isCompleted && both.isCompleted)
            #expect("\(nested)" == "Future(success: [[1, 2, 3], [1, 2, 3]])")
            #expect(Future.all(futures).isCompleted && Future.race(futures).isCompleted)
        }
    }

    @Test(
        "what remains of a group is asked to cancel within the call that ends it", arguments: Driver.allCases)
    func remaining(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            for (index, promise) in promises.enumerated() {
                promise.onCancelRequest {
                    seen.add(index)
                    // Nobody hears of this one any more.
                    promises[2].fail(Failure(2))
                    return .cancel
                }
            }
            var failures: [Int] = []
            let all = Future.all(promises.map(\.future)) { _, index in failures.append(index) }
            promises[0].fail(Failure(1))
            #expect(seen.entries == ["1"])
            #expect(promises.allSatisfy { $0.future.isCompleted })
            #expect(failures.isEmpty)
            try settle(loop)
            expect(all, failsWith: Failure(1))
            #expect(failures == [0])

            let late = loop.makePromise(of: Int.self)
            expect(Future.all([loop.failed(Failure(3)), late.future]), failsWith: Failure(3))
            #expect(!late.succeed(1))
            let kept = loop.makePromise(of: Int.self)
            let group = Future.all([loop.failed(Failure(4)), kept.future], cancelRemaining: false)
            expect(group, failsWith: Failure(4))
            #expect(kept.succeed(1))
        }
    }

    @Test("a group that is cancelled hears of none of its members any more", arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (first, second) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            first.onCancelRequest {
                second.fail(Failure(2))
                return .cancel
            }
            var failures: [Int] = []
            let all = Future.all([first.future, second.future]) { _, index in failures.append(index) }
            #expect(all.cancel())
            #expect(first.future.isCompleted && second.future.isCompleted)
            try settle(loop)
            #expect(failures.isEmpty)
        }
    }

    @Test("closures that a group is given run from the loop, never inside the call that completes a member")
    func closures() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let failing = loop.makePromise(of: Int.self)
            func see(_ name: String) { seen.add(name) }
            let totals = [
                Future.reduce([promise.future], 0) {
                    see("reduce")
                    return $0 + $1
                },
                Future.fold([promise.future], 0) {
                    see("fold")
                    return loop.succeeded($0 + $1)
                },
                Future.find([failing.future, promise.future]) {
                    see("find")
                    return $0 > 0
                }.unwrap(),
                Future.mapEach([promise.future]) { result, _ in
                    see("mapEach")
                    return try result.get()
                }.map { $0[0] },
                loop.traverse([1, 2], maxConcurrent: 1) {
                    see("traverse \($0)")
                    return promise.future
                }.map { $0[0] },
            ]
            let all = Future.all([failing.future], onFirstFailure: { _, _ in see("onFirstFailure") })
            let settled = Future.all(
                [failing.future], failFast: false, onFirstFailure: { _, _ in see("settled") })
            let (before, number) = (seen.entries, totals.count)
            #expect(before == ["traverse 1"])
            promise.succeed(1)
            failing.fail(Failure(1))
            see("returned")
            #expect(all.isCompleted && settled.isCompleted)
            all.whenFailure { _ in see("all has failed") }
            for total in totals { try expect(total, succeedsWith: 1) }
            #expect(Array(seen.entries[1...1]) == ["returned"])
            let order = seen.entries.filter { $0.contains("ail") }
            #expect(order == ["onFirstFailure", "all has failed"] && number == 5)
        }
    }
}
