import Futures
import FuturesTesting
import Testing

struct AbandonmentTests {
    @Test("a producer hears that nobody holds or awaits its future any more", arguments: Driver.allCases)
    func abandoned(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var future: Future<Int>? = promise.future
            promise.onAbandoned { seen.add("first") }
            promise.onAbandoned { seen.add("second") }
            try settle(loop)
            try settle(loop)
            #expect(seen.entries.isEmpty && future != nil)
            future = nil
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["first", "second"])
            #expect(promise.succeed(1))
        }
    }

    @Test("a future that is gone when the handler is set is reported too", arguments: Driver.allCases)
    func alreadyGone(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onAbandoned { [unowned promise] in seen.add("abandoned \(promise.cancel())") }
            #expect(seen.entries.isEmpty)
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["abandoned true"])
        }
    }

    @Test("a handler is called in a turn of its own, though nothing else is ready")
    func turn() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let promises = (1...3).map { _ in loop.makePromise(of: Int.self) }
            for (number, promise) in promises.enumerated() { promise.onAbandoned { seen.add(number) } }
            loop.advance(by: .zero)
            #expect(seen.entries == ["0", "1", "2"])
            for promise in promises { promise.cancel() }
        }
    }

    @Test("a future that somebody waits for is not abandoned until he leaves", arguments: Driver.allCases)
    func awaited(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onAbandoned { seen.add("abandoned") }
            promise.onCancelRequest { .continue }
            let branch = promise.future.map { $0 }
            try settle(loop)
            try settle(loop)
            #expect(seen.entries.isEmpty)
            #expect(branch.cancel(.immediately))
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["abandoned"])
            #expect(promise.succeed(1))
        }
    }

    @Test("a future that a flatMap waits for is as abandoned as the flatMap is", arguments: Driver.allCases)
    func linked(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var outer: Future<Int>? = loop.succeeded(0).flatMap { _ in promise.future }
            try settle(loop)
            promise.onAbandoned { seen.add("abandoned") }
            try settle(loop)
            try settle(loop)
            #expect(seen.entries.isEmpty && outer != nil)
            outer = nil
            try settle(loop)
            try settle(loop)
            #expect(seen.entries == ["abandoned"])
            promise.succeed(1)
        }
    }

    @Test("a handler is released unrun when the future completes", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func watch(_ promise: Promise<Int>) {
                let witness = Witness()
                captured = witness
                promise.onAbandoned {
                    witness.look()
                    promise.succeed(0)
                    Issue.record("the future has completed")
                }
            }
            let (promise, dropped) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            watch(promise)
            promise.succeed(1)
            #expect(captured == nil)
            watch(dropped)
            dropped.complete(using: promise.future)
            #expect(captured == nil)
            try settle(loop)
        }
    }

    @Test("a promise whose future has completed is not abandoned any more", arguments: Driver.allCases)
    func completed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.succeed(1)
            other.complete(using: promise.future)
            for promise in [promise, other] { promise.onAbandoned { Issue.record("it is abandoned") } }
            try settle(loop)
            try settle(loop)
        }
    }
}
