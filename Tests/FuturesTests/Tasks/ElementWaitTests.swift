import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tasks of one's own, which no body knows.
struct ElementWaitTests {
    enum Kind: CaseIterable { case actor, executorPreference }

    private actor Owner {
        let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        /// Notes the numbers in `seen`, and what ended them.
        func start(_ numbers: LoopSequence<Int>, _ seen: Record) -> Task<Void, Never> {
            nonisolated(unsafe) let numbers = numbers
            return Task {
                do {
                    for try await number in unsafe numbers { seen.add(number) }
                    seen.add("end")
                } catch {
                    seen.add(error)
                }
                if !loop.isCurrent { Issue.record("resumed elsewhere") }
            }
        }
    }

    private func start(
        _ kind: Kind, _ numbers: LoopSequence<Int>, _ seen: Record, on loop: EventLoop
    ) -> Task<Void, Never> {
        nonisolated(unsafe) let (numbers, seen) = (numbers, seen)
        switch kind {
        case .actor:
            return Owner(loop).assumeIsolated { owner in unsafe owner.start(numbers, seen) }
        case .executorPreference:
            return Task(executorPreference: loop) {
                do {
                    for try await number in unsafe numbers { unsafe seen.add(number) }
                    unsafe seen.add("end")
                } catch {
                    unsafe seen.add(error)
                }
                if !loop.isCurrent { Issue.record("resumed elsewhere") }
            }
        }
    }

    private func with(
        _ kind: Kind, _ body: (ScriptedAsker, Task<Void, Never>, Record, EventLoop) -> Void
    ) {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        let seen = Record()
        let task = start(kind, asker.numbers(on: loop), seen, on: loop)
        loop.advance(by: .zero)
        #expect(asker.isAsked)
        body(asker, task, seen, loop)
        loop.shutdown()
    }

    @Test("a task goes on within the call that delivers, without a future", arguments: Kind.allCases)
    func within(kind: Kind) {
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

    @Test("a failure ends the sequence of a task", arguments: Kind.allCases)
    func fails(kind: Kind) {
        with(kind) { asker, _, seen, loop in
            asker.end(because: Failure(3))
            loop.advance(by: .zero)
            #expect(seen.entries == ["Failure(code: 3)"])
        }
    }

    @Test("a task that is cancelled while it waits takes nothing", arguments: Kind.allCases)
    func cancelled(kind: Kind) {
        with(kind) { asker, task, seen, loop in
            task.cancel()
            loop.advance(by: .zero)
            #expect(seen.entries == ["CancellationError()"])
            #expect(!asker.isAsked)
            asker.deliver(4)
            #expect(asker.ready == [4])
        }
    }

    @Test("a task that was cancelled before takes what is there, and does not wait", arguments: Kind.allCases)
    func cancelledBefore(kind: Kind) {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        asker.ready = [1]
        let seen = Record()
        start(kind, asker.numbers(on: loop), seen, on: loop).cancel()
        loop.advance(by: .zero)
        #expect(seen.entries == ["1", "CancellationError()"])
        #expect(!asker.isAsked)
        loop.shutdown()
    }

    @Test("a task that is cancelled in the turn in which its element came gets it", arguments: Kind.allCases)
    func nothingLost(kind: Kind) {
        with(kind) { asker, task, seen, loop in
            let body = Future(on: loop) {
                asker.deliver(7)
                task.cancel()
            }
            loop.advance(by: .zero)
            #expect(body.hasSucceeded)
            #expect(seen.entries == ["7", "CancellationError()"])
        }
    }

    @Test("shutdown ends the wait of a task", arguments: Kind.allCases)
    func shutdown(kind: Kind) {
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
            let task = start(.actor, asker.numbers(on: loop), seen, on: loop)
            loop.schedule(after: .milliseconds(1), keepsLoopAlive: false) {
                #expect(loop.core.isAwaited)
                task.cancel()
            }
            try loop.run()
            #expect(seen.entries == ["CancellationError()"])
            #expect(!loop.core.isAwaited)
        }
    }
}
