import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tasks of one's own, which no body knows.
struct ElementWaitTests {
    private func with(
        _ kind: Consumer, _ body: (ScriptedAsker, @escaping () -> Void, Record, EventLoop) -> Void
    ) {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        let seen = Record()
        let cancel = kind.start(asker.numbers(on: loop), seen, on: loop)
        loop.advance(by: .zero)
        #expect(asker.isAsked)
        body(asker, cancel, seen, loop)
        loop.shutdown()
    }

    @Test("a task goes on within the call that delivers, without a future", arguments: Consumer.tasks)
    func within(kind: Consumer) {
        with(kind) { asker, _, seen, loop in
            for number in 1...2 {
                loop.schedule(after: .zero) {
                    asker.deliver(number)
                    seen.add("delivered")
                }
            }
            loop.advance(by: .zero)
            // A task that is isolated to nothing may go on in a job of its own.
            if kind == .actor { #expect(seen.entries == ["1", "delivered", "2", "delivered"]) }
            asker.end()
            loop.advance(by: .zero)
            #expect(seen.entries.filter { $0 != "delivered" } == ["1", "2", "end"])
        }
    }

    @Test("a failure ends the sequence of a task", arguments: Consumer.tasks)
    func fails(kind: Consumer) {
        with(kind) { asker, _, seen, loop in
            asker.end(because: Failure(3))
            loop.advance(by: .zero)
            #expect(seen.entries == ["Failure(code: 3)"])
        }
    }

    @Test("a task that is cancelled while it waits takes nothing", arguments: Consumer.tasks)
    func cancelled(kind: Consumer) {
        with(kind) { asker, cancel, seen, loop in
            cancel()
            loop.advance(by: .zero)
            #expect(seen.entries == ["CancellationError()"])
            #expect(!asker.isAsked)
            asker.deliver(4)
            #expect(asker.ready == [4])
        }
    }

    @Test(
        "a task that was cancelled before takes what is there, and does not wait", arguments: Consumer.tasks)
    func cancelledBefore(kind: Consumer) {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        asker.ready = [1]
        let seen = Record()
        kind.start(asker.numbers(on: loop), seen, on: loop)()
        loop.advance(by: .zero)
        #expect(seen.entries == ["1", "CancellationError()"])
        #expect(!asker.isAsked)
        loop.shutdown()
    }

    @Test("a task that is cancelled in the turn in which its element came gets it", arguments: Consumer.tasks)
    func nothingLost(kind: Consumer) {
        with(kind) { asker, cancel, seen, loop in
            let body = Future(on: loop) {
                asker.deliver(7)
                cancel()
            }
            loop.advance(by: .zero)
            #expect(body.hasSucceeded)
            #expect(seen.entries == ["7", "CancellationError()"])
        }
    }

    @Test("shutdown ends the wait of a task", arguments: Consumer.tasks)
    func shutdown(kind: Consumer) {
        with(kind) { asker, _, seen, loop in
            loop.shutdown()
            #expect(seen.entries == ["\(FutureError.shutDown)"])
            #expect(!asker.isAsked)
        }
    }

    @Test("a task that waits keeps the loop running, and is counted")
    func keepsRunning() throws {
        try withLoop(.libuv) { loop in
            let asker = ScriptedAsker()
            let seen = Record()
            let cancel = Consumer.actor.start(asker.numbers(on: loop), seen, on: loop)
            loop.schedule(after: .milliseconds(1), keepsLoopAlive: false) {
                #expect(loop.core.isAwaited)
                cancel()
            }
            try loop.run()
            #expect(seen.entries == ["CancellationError()"])
            #expect(!loop.core.isAwaited)
        }
    }
}
