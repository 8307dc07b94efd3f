import Futures
import Testing

struct DisposingTests {
    @Test(
        "the clean-up runs once, before listeners, however the future ends", arguments: Driver.allCases, 0..<4
    )
    func disposes(driver: Driver, ending: Int) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>?
            let future = Future<Int>(on: loop, file: "here", line: 7) {
                seen.add("body")
                promise = $0
                return Disposer { seen.add("disposed") }
            }
            #expect(seen.entries == ["body"])
            future.whenComplete { seen.add($0) }
            future.map { $0 + 1 }.whenSuccess { seen.add($0) }
            let outcome: [String]
            switch ending {
            case 0:
                promise!.succeed(1)
                promise!.succeed(2)
                outcome = ["1", "2"]
            case 1:
                promise!.fail(Failure(1))
                outcome = ["failed: Failure(code: 1)"]
            case 2:
                promise!.cancel()
                outcome = ["cancelled"]
            default:
                promise = nil
                outcome = ["failed: \(FutureError.brokenPromise(file: "here", line: 7))"]
            }
            #expect(seen.entries == ["body", "disposed"])
            try settle(loop)
            #expect(seen.entries == ["body", "disposed"] + outcome)
        }
    }

    @Test(
        "cancelling disposes, and so does completion before the body returns, also without listeners",
        arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var promise: Promise<Int>?
            let future = Future<Int>(on: loop) {
                promise = $0
                return Disposer { seen.add("disposed") }
            }
            #expect(future.cancel())
            #expect(seen.entries == ["disposed"] && promise!.future.isCompleted)
            let immediate = Future<Int>(on: loop) { promise in
                promise.succeed(1)
                seen.add("returns")
                return OnlyWhenTold { seen.add("disposed at once") }
            }
            #expect(immediate.isCompleted)
            #expect(seen.entries == ["disposed", "returns", "disposed at once"])
            expect(Future<Int>(on: loop) { _ -> Disposer in throw Failure(1) }, failsWith: Failure(1))
            let going = Future<Int>(on: loop) {
                promise = $0
                $0.onCancelRequest { .continue }
                return Disposer { seen.add("at the end") }
            }
            #expect(going.cancel() && seen.entries.last == "disposed at once")
            promise!.succeed(2)
            #expect(seen.entries.last == "at the end")
            try expect(going, succeedsWith: 2)
        }
    }

    @Test("a clean-up may complete, cancel and dispose of what it likes", arguments: Driver.allCases)
    func reentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let others = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            for other in others { other.future.map { $0 }.whenComplete { seen.add($0) } }
            let source = loop.makePromise(of: Int.self)
            var last: Future<Int>?
            let future = Future<Int>(on: loop) { promise in
                promise.complete(using: source.future)
                return Disposer {
                    others[0].succeed(1)
                    others[1].fail(Failure(2))
                    others[2].future.cancel()
                    last?.cancel()
                    others[2].succeed(3)
                }
            }
            last = future.map { $0 }.map { $0 }
            #expect(last!.cancel())
            #expect(last!.isCompleted && source.future.isCompleted)
            last = nil
            try settle(loop)
            #expect(seen.entries == ["failed: Failure(code: 2)", "1", "3"])
        }
    }
}

/// Unlike a disposer, its release alone does nothing.
private final class OnlyWhenTold: Disposable {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func dispose() { action() }
}
