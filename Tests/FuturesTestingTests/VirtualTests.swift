import Futures
import FuturesTesting
import Testing

struct VirtualTests {
    @Test("the clock starts at zero and stands still until it is advanced")
    func clock() throws {
        try withLoop { loop in
            let start = loop.now
            loop.submit {}.whenSuccess {}
            try loop.run()
            #expect(loop.now == start)
            loop.advance(by: .milliseconds(1_500))
            #expect(start.duration(to: loop.now) == .milliseconds(1_500))
            loop.advance(by: .zero)
            #expect(start.duration(to: loop.now) == .milliseconds(1_500))
        }
    }

    @Test("advance fires what becomes due, each at its own time, and nothing later")
    func advance() {
        withLoop { loop in
            var fired: [(String, Double)] = []
            let start = loop.now
            func note(_ name: String) { fired.append((name, start.duration(to: loop.now) / .seconds(1))) }
            loop.schedule(after: .seconds(3)) { note("c") }
            loop.schedule(after: .seconds(1)) {
                note("a")
                loop.schedule(after: .seconds(1)) { note("b") }
            }
            let late = loop.schedule(after: .seconds(4)) { note("d") }
            loop.advance(by: .nanoseconds(3_999_999_999))
            #expect(fired.map(\.0) == ["a", "b", "c"])
            #expect(fired.map(\.1) == [1, 2, 3])
            loop.advance(by: .nanoseconds(1))
            #expect(fired.last?.0 == "d" && fired.last?.1 == 4)
            #expect(late.future.isCompleted)
        }
    }

    @Test("advance by nothing runs what is ready and what is due")
    func advanceByNothing() {
        withLoop { loop in
            var seen: [Int] = []
            loop.submit { seen.append(1) }.whenSuccess { seen.append(2) }
            loop.schedule(after: .zero) { seen.append(3) }
            #expect(seen.isEmpty)
            loop.advance(by: .zero)
            #expect(seen == [1, 2, 3])
        }
    }

    @Test("the clock stops at the end of time")
    func endOfTime() {
        withLoop { loop in
            loop.advance(by: .seconds(Int64.max))
            let end = loop.now
            loop.advance(by: .seconds(Int64.max))
            #expect(loop.now == end)
        }
    }

    @Test("two virtual loops have clocks of their own")
    func twoLoops() {
        withLoop { first in
            withLoop { second in
                first.advance(by: .seconds(1))
                #expect(second.now == EventLoop.virtual().now)
                #expect(first.now > second.now)
            }
        }
    }

    @Test("time does not go backwards")
    func negative() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            EventLoop.virtual().advance(by: .seconds(-1))
        }
        expect("advance(by:) was given -1.0 seconds; time only moves forward.", in: result)
    }

    @Test("advance in a callback traps")
    func nested() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            try loop.run(until: loop.submit { loop.advance(by: .zero) })
        }
        expect("advance(by:) was called on an event loop that is running.", in: result)
    }

    @Test("advance on a loop that has been shut down traps")
    func shutDown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            loop.shutdown()
            loop.advance(by: .zero)
        }
        expect(
            "advance(by:) was called on an event loop that has been shut down; make a new one.", in: result)
    }
}
