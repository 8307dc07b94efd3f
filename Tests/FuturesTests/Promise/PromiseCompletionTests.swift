import Futures
import Testing

struct PromiseCompletionTests {
    private typealias Completer = (name: String, complete: (Promise<Int>) -> Bool, outcome: String)

    private func completers(_ loop: EventLoop) -> [Completer] {
        [
            ("succeed", { $0.succeed(1) }, "1"),
            ("fail", { $0.fail(Failure(2)) }, "failed: Failure(code: 2)"),
            ("fail with a text", { $0.fail(FutureError.message("no")) }, "failed: no"),
            ("cancel", { $0.cancel() }, "cancelled"),
            ("a result", { $0.complete(.success(3)) }, "3"),
            ("a completion", { $0.complete(FutureCompletion.cancelled) }, "cancelled"),
            ("a future", { $0.complete(using: loop.succeeded(4)) }, "4"),
            ("a failed future", { $0.complete(loop.failed(Failure(5))) }, "failed: Failure(code: 5)"),
            ("a block", { $0.completeIfPending { 6 } }, "6"),
            (
                "a block that throws", { $0.completeIfPending { throw Failure(7) } },
                "failed: Failure(code: 7)"
            ),
            (
                "a block that returns a future", { $0.completeIfPending { loop.succeeded(8) } }, "8"
            ),
            (
                "a block that throws in place of a future",
                { $0.completeIfPending { () throws -> Future<Int> in throw Failure(9) } },
                "failed: Failure(code: 9)"
            ),
            ("a block that returns a completion", { $0.completeIfPending { .cancelled } }, "cancelled"),
        ]
    }

    @Test("of any two completions the first wins and the second says false", arguments: Driver.allCases)
    func matrix(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.onUnhandledFailure = { #expect($0 as? Failure == Failure(5)) }
            for first in completers(loop) {
                for second in completers(loop) {
                    let promise = loop.makePromise(of: Int.self)
                    let seen = Record()
                    promise.future.whenComplete { seen.add($0) }
                    #expect(first.complete(promise), "\(first.name)")
                    #expect(!second.complete(promise), "\(second.name) after \(first.name)")
                    try settle(loop)
                    #expect(seen.entries == [first.outcome], "\(first.name) before \(second.name)")
                }
            }
        }
    }

    @Test("a promise that waits for a future is taken for all completions", arguments: Driver.allCases)
    func lockedIn(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.onUnhandledFailure = { #expect($0 as? Failure == Failure(5)) }
            for completer in completers(loop) {
                let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
                #expect(promise.complete(other))
                #expect(!completer.complete(promise), "\(completer.name)")
                var wasTold = false
                let isCompleted = promise.completeIfPending {
                    Issue.record("the block has run")
                    return 1
                } else: {
                    wasTold = true
                }
                #expect(!isCompleted && wasTold)
                other.succeed(9)
                #expect(promise.future.result?.value == 9, "\(completer.name)")
            }
        }
    }

    @Test("exactly one of the two blocks runs, at once", arguments: Driver.allCases)
    func blocks(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            func complete(_ value: Int) -> Bool {
                promise.completeIfPending {
                    seen.add("block \(value)")
                    return value
                } else: {
                    seen.add("else \(value)")
                }
            }
            #expect(complete(1))
            #expect(!complete(2))
            #expect(seen.entries == ["block 1", "else 2"])
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("a block may complete its promise itself, and then that counts", arguments: Driver.allCases)
    func reentrant(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let won = promise.completeIfPending {
                promise.succeed(1)
                return 2
            } else: {
                Issue.record("the block has run")
            }
            #expect(!won)
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test(
        "a promise takes the first of several futures, and stays open meanwhile", arguments: Driver.allCases)
    func firstOf(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, open) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let (slow, fast) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.complete(withFirstOf: [slow.future, fast.future])
            fast.fail(Failure(1))
            expect(promise.future, failsWith: Failure(1))
            #expect(slow.future.isCancelled)

            let kept = loop.makePromise(of: Int.self)
            open.complete(withFirstOf: [kept.future], cancelRemaining: false)
            #expect(open.succeed(2))
            #expect(!kept.future.isCompleted)
            kept.succeed(3)
            try expect(open.future, succeedsWith: 2)

            let unwanted = loop.makePromise(of: Int.self)
            let early = loop.makePromise(of: Int.self)
            early.complete(withFirstOf: [unwanted.future])
            #expect(early.succeed(5) && unwanted.future.isCancelled)

            let left = loop.makePromise(of: Int.self)
            func waitForLeft() -> Future<Int> {
                let dropped = loop.makePromise(of: Int.self)
                dropped.complete(withFirstOf: [left.future])
                return dropped.future
            }
            let future = waitForLeft()
            left.succeed(4)
            try expect(future, succeedsWith: 4)

            let none = loop.makePromise(of: Int.self)
            none.complete(withFirstOf: [])
            let text = "race was given no futures; give it at least one"
            expect(none.future, failsWith: FutureError.invalidArgument(text))
            withExtendedLifetime((promise, none)) {}
        }
    }
}
