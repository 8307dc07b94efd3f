import Futures
import FuturesTesting
import Testing

struct PaceTests {
    @Test("a debounced call is made once, when none has come for the time given")
    func debounce() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let start = loop.now
            let save = loop.debounce(for: .milliseconds(100)) { (name: String) in
                seen.add("\(name) \(start.duration(to: loop.now) / .milliseconds(1))")
            }
            save("a")
            loop.advance(by: .milliseconds(60))
            save("b")
            loop.advance(by: .milliseconds(99))
            #expect(save.isWaiting && seen.entries.isEmpty)
            loop.advance(by: .milliseconds(1))
            #expect(!save.isWaiting && seen.entries == ["b 160.0"])
            save("c")
            try loop.run()
            #expect(seen.entries == ["b 160.0", "c 260.0"])
        }
    }

    @Test(
        "a throttled call is made at once, and again at most once in the time given, for the last that came")
    func throttle() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let start = loop.now
            let draw = loop.throttle(every: .milliseconds(100)) { (frame: Int) in
                seen.add("\(frame) \(start.duration(to: loop.now) / .milliseconds(1))")
            }
            draw(1)
            #expect(seen.entries.isEmpty && !draw.isWaiting)
            draw(2)
            loop.advance(by: .milliseconds(60))
            #expect(seen.entries == ["1 0.0"] && draw.isWaiting)
            draw(3)
            loop.advance(by: .milliseconds(40))
            #expect(seen.entries == ["1 0.0", "3 100.0"])
            draw(4)
            loop.advance(by: .milliseconds(100))
            #expect(seen.entries.last == "4 200.0")
            loop.advance(by: .milliseconds(100))
            draw(5)
            loop.advance(by: .zero)
            #expect(seen.entries == ["1 0.0", "3 100.0", "4 200.0", "5 300.0"])
        }
    }

    @Test("a call that waits can be made now or dropped", arguments: [true, false])
    func flushAndCancel(isDebounced: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            func note(_ number: Int) { seen.add(number) }
            let call =
                isDebounced
                ? loop.debounce(for: .seconds(1), note) : loop.throttle(every: .seconds(1), note)
            #expect(!call.flush() && !call.cancel())
            call(0)
            call(1)
            #expect(call.flush())
            #expect(!call.isWaiting && loop.statistics.timers == 0)
            try settle(loop)
            #expect(seen.entries == (isDebounced ? ["1"] : ["0", "1"]))
            call(2)
            #expect(call.cancel())
            #expect(!call.cancel() && !call.isWaiting && loop.statistics.timers == 0)
            call(3)
            #expect(call.isWaiting)
            loop.advance(by: .seconds(1))
            #expect(seen.entries.suffix(2) == ["1", "3"])
        }
    }

    @Test("a body may ask for the next call", arguments: [true, false])
    func reentrant(isDebounced: Bool) throws {
        try withLoop(.virtual) { loop in
            var times: [Double] = []
            let start = loop.now
            var again: () -> Void = {}
            func note() {
                times.append(start.duration(to: loop.now) / .seconds(1))
                if times.count < 3 { again() }
            }
            let call =
                isDebounced ? loop.debounce(for: .seconds(1), note) : loop.throttle(every: .seconds(1), note)
            again = { call() }
            call()
            try loop.run()
            again = {}
            #expect(times == (isDebounced ? [1, 2, 3] : [0, 1, 2]))
        }
    }

    @Test("a call that waits is made although nobody holds it, and not by a loop that is shut down")
    func released() throws {
        try withLoop(.virtual) { loop in
            var calls = 0
            var call: PacedCall<Void>? = loop.debounce(for: .seconds(1)) { calls += 1 }
            weak let held = call
            call?()
            call = nil
            try loop.run()
            #expect(calls == 1 && held == nil)
            let late = loop.debounce(for: .seconds(1)) { calls += 1 }
            late()
            loop.shutdown()
            late()
            #expect(calls == 1 && !late.cancel())
        }
    }

    @Test("a pace that is negative traps")
    func negative() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = EventLoop.virtual().throttle(every: .seconds(-1)) {}
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("a delay of -1.0 seconds is negative; give zero or more"))
    }

    @Test("a call may be cancelled or made in the turn in which it is due", arguments: [true, false])
    func sameTurn(isFlushed: Bool) throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            let call = loop.debounce(for: .seconds(1)) { (name: String) in seen.add(name) }
            loop.schedule(after: .seconds(1)) { seen.add(isFlushed ? call.flush() : call.cancel()) }
            call("a")
            loop.advance(by: .seconds(2))
            #expect(seen.entries == (isFlushed ? ["true", "a"] : ["true"]) && !call.isWaiting)
        }
    }
}
