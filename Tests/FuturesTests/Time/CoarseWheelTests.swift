import Futures
import FuturesTesting
import TestSupport
import Testing

struct CoarseWheelTests {
    @Test("a deadline is met late by a sixteenth and a second at most, and never early")
    func neverEarly() {
        withWheel { loop in
            var generator = SeededGenerator()
            for _ in 0..<2000 {
                let start = loop.core.clock
                let delay = UInt64.random(
                    in: 0...(1 << UInt64.random(in: 1...40, using: &generator)), using: &generator)
                let entry = Entry(loop)
                entry.set(after: delay)
                loop.advance(by: .nanoseconds(delay + max(delay / 16, 1 << 20) + 1))
                #expect(entry.calls.count == 1)
                #expect(entry.calls.allSatisfy { $0 >= start + delay && $0 <= start + delay + (1 << 30) })
            }
        }
    }

    @Test("what is put off is called once, at its last deadline")
    func putOff() {
        withWheel { loop in
            let entry = Entry(loop)
            for _ in 0..<100 {
                entry.set(after: 10_000_000_000)
                loop.advance(by: .seconds(1))
            }
            #expect(entry.calls.isEmpty)
            loop.advance(by: .seconds(10))
            #expect(entry.calls.count == 1)
            entry.set(after: 10_000_000_000)
            entry.set(after: 1_000_000_000)
            loop.advance(by: .seconds(20))
            #expect(entry.calls.count == 2)
        }
    }

    @Test("what leaves is not called, whoever stands in the same slot")
    func leaving() {
        withWheel { loop in
            var generator = SeededGenerator()
            let entries = (0..<100).map { _ in Entry(loop) }
            for entry in entries { entry.set(after: 5_000_000_000) }
            let (leaving, staying) = (entries.shuffled(using: &generator).prefix(50), Set(0..<100))
            for entry in leaving {
                entry.leave()
                entry.leave()
            }
            loop.advance(by: .seconds(10))
            for entry in leaving { #expect(entry.calls.isEmpty) }
            #expect(entries.count { !$0.calls.isEmpty } == staying.count - 50)
        }
    }

    @Test("who is called may take out others that are due, put itself back, or bring in more")
    func changesMeanwhile() {
        withWheel { loop in
            let (first, second) = (Entry(loop), Entry(loop))
            for entry in [first, second] { entry.set(after: 5_000_000_000) }
            first.whenCalled = { second.leave() }
            second.whenCalled = { first.leave() }
            loop.advance(by: .seconds(10))
            #expect(first.calls.count + second.calls.count == 1)
            let again = Entry(loop)
            again.whenCalled = { if again.calls.count < 5 { again.set(after: 0) } }
            again.set(after: 1)
            loop.advance(by: .seconds(1))
            #expect(again.calls.count == 5)
            for entry in [first, second, again] { entry.whenCalled = {} }
        }
    }

    @Test("thousands with one deadline share a slot, and no turn calls more than 256 of them")
    func shares() {
        withWheel { loop in
            let entries = (0..<10_000).map { _ in Entry(loop) }
            var callsInTurn: [UInt64: Int] = [:]
            for entry in entries {
                entry.set(after: 30_000_000_000)
                entry.whenCalled = { callsInTurn[loop.statistics.turns, default: 0] += 1 }
            }
            #expect(loop.statistics.timers == 0 && loop.statistics.futures == 0)
            loop.advance(by: .seconds(40))
            #expect(entries.allSatisfy { $0.calls.count == 1 })
            #expect(callsInTurn.values.max() == 256)
            #expect(callsInTurn.count == 40)
        }
    }

    @Test("a deadline beyond all time never comes, and run ends when the last one is met")
    func farDeadlines() throws {
        try withWheel { loop in
            let (never, soon) = (Entry(loop), Entry(loop))
            never.set(after: .max)
            soon.set(after: 1_000_000_000)
            // More than are called in one turn.
            let many = (0..<300).map { _ in Entry(loop) }
            for entry in many { entry.set(after: 2_000_000_000) }
            try loop.run()
            #expect(never.calls.isEmpty)
            #expect(soon.calls.count == 1 && many.allSatisfy { $0.calls.count == 1 })
        }
    }

    @Test("deadlines that lie near each other are met together, when the last of them may have come")
    func together() {
        withWheel { loop in
            let width: UInt64 = 1 << 20
            let end = (loop.core.clock / width + 3) * width
            let entries = [end - width, end - width + 1, end - width + 2, end - 1, end].map { deadline in
                let entry = Entry(loop)
                entry.set(after: deadline - loop.core.clock)
                return entry
            }
            loop.advance(by: .seconds(1))
            #expect(entries.map(\.calls) == [[end - width], [end], [end], [end], [end]])
        }
    }

    @Test("what is not waited for any more does not keep the loop running")
    func left() throws {
        try withWheel { loop in
            let entry = Entry(loop)
            entry.set(after: 5_000_000_000)
            entry.leave()
            let start = loop.core.clock
            try loop.run()
            #expect(loop.core.clock == start)
        }
    }

    @Test("after the shutdown nothing is called, and leaving does no harm")
    func shutdown() {
        withWheel { loop in
            let (before, after) = (Entry(loop), Entry(loop))
            before.set(after: 1_000_000)
            loop.shutdown()
            after.set(after: 1_000_000)
            before.leave()
            after.leave()
            #expect(before.calls.isEmpty && after.calls.isEmpty)
        }
    }

    /// Gives `body` a loop on virtual time, which has to be without timers in the end.
    private func withWheel(_ body: (EventLoop) throws -> Void) rethrows {
        weak var freed: LoopCore?
        do {
            let loop = EventLoop.virtual()
            freed = loop.core
            try body(loop)
            #expect(loop.statistics.timers == 0)
            loop.shutdown()
        }
        #expect(freed == nil)
    }
}

private final class Entry: CoarselyTimed {
    var place = CoarsePlace()
    var calls: [UInt64] = []
    var whenCalled: () -> Void = {}
    private unowned let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }

    func set(after delay: UInt64) {
        loop.core.setDeadline(loop.core.clock.addingSaturated(delay), of: self, now: loop.core.clock)
    }

    func leave() { loop.core.removeDeadline(of: self) }

    func timeHasCome(_ now: UInt64) {
        calls.append(now)
        whenCalled()
    }
}
