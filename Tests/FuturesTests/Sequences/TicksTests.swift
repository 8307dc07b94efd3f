import Futures
import FuturesTesting
import Testing

struct TicksTests {
    @Test(
        "ticks come at the instants of their interval, and those that a slow consumer misses do not",
        arguments: Driver.allCases)
    func ticks(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let start = loop.now
            let future = Future(on: loop) {
                var ticks = loop.ticks(every: .ticks(2)).makeAsyncIterator()
                var instants: [Duration] = []
                for pause in [0, 5, 0] {
                    let tick = try await ticks.next()
                    instants.append(start.duration(to: tick!))
                    if pause > 0 { try await loop.sleep(for: .ticks(pause)).value }
                }
                return instants
            }
            let instants = try loop.run(until: future)
            if driver == .virtual { #expect(instants == [.ticks(2), .ticks(4), .ticks(10)]) }
            #expect(zip(instants, [2, 4, 10]).allSatisfy { $0 >= .ticks($1) })
            #expect(loop.statistics.timers == 0)
            let none = loop.ticks(every: .zero).first()
            let text = "an interval of \(Duration.zero) is not positive; give more than zero"
            expect(none, failsWith: FutureError.invalidArgument(text))
        }
    }

    @Test(
        "ticks come to tasks of all kinds, and a cancelled one leaves no timer", arguments: Consumer.allCases)
    func consumers(consumer: Consumer) {
        let loop = EventLoop.virtual()
        let start = loop.now
        let seen = Record()
        let cancel = consumer.start(loop.ticks(every: .seconds(1)), seen, on: loop)
        loop.advance(by: .seconds(2))
        #expect(loop.statistics.timers == 1)
        cancel()
        loop.advance(by: .zero)
        #expect(loop.statistics.timers == 0)
        loop.advance(by: .seconds(5))
        let instants = (1...2).map { "\(start.advanced(by: .seconds($0)))" }
        #expect(seen.entries == instants + ["CancellationError()"])
        loop.shutdown()
    }

    @Test("shutdown ends the wait for a tick", arguments: Consumer.allCases)
    func shutdown(consumer: Consumer) {
        let loop = EventLoop.virtual()
        let seen = Record()
        consumer.start(loop.ticks(every: .seconds(1)), seen, on: loop)
        loop.advance(by: .milliseconds(1500))
        loop.shutdown()
        #expect(seen.entries.count == 2)
        #expect(seen.entries.last == "\(FutureError.shutDown)")
    }

    @Test("who takes ticks runs in the order of the timers, within the callback of its own")
    func order() {
        let loop = EventLoop.virtual()
        let seen = Record()
        loop.schedule(after: .seconds(1)) {
            seen.add("before")
            loop.later { seen.add("later") }
        }
        let body = Future(on: loop) {
            for try await _ in loop.ticks(every: .seconds(1)) { return seen.add("tick") }
        }
        loop.advance(by: .zero)
        loop.schedule(after: .seconds(1)) { seen.add("after") }
        loop.advance(by: .seconds(1))
        #expect(body.isCompleted)
        #expect(seen.entries == ["before", "tick", "after", "later"])
        loop.shutdown()
    }

    @Test("a wait that is cancelled when its tick is due leaves the tick to the next who asks")
    func cancelledWhenDue() {
        let loop = EventLoop.virtual()
        let start = loop.now
        let ticks = SharedIterator(loop.ticks(every: .seconds(1)).makeAsyncIterator())
        let seen = Record()
        var first: Future<Void>?
        loop.schedule(after: .seconds(1)) {
            first!.cancel()
            Future(on: loop) { while true { seen.add(try await ticks.next()!) } }.ignoreFailure()
        }
        first = Future(on: loop) { seen.add(try await ticks.next()!) }
        loop.advance(by: .seconds(2))
        #expect(seen.entries == (1...2).map { "\(start.advanced(by: .seconds($0)))" })
        loop.shutdown()
    }

    @Test("a second task at the same iterator, and code that does not await, get their ticks by futures")
    func byFutures() {
        let loop = EventLoop.virtual()
        let start = loop.now
        let iterator = loop.ticks(every: .seconds(1)).makeAsyncIterator()
        let ticks = SharedIterator(iterator)
        let waits = (0..<2).map { _ in Future(on: loop) { try await ticks.nextOfCopy() } }
        loop.advance(by: .milliseconds(1))
        let pulled = iterator.pull()
        loop.advance(by: .seconds(1))
        #expect((waits + [pulled]).allSatisfy { $0.now == start.advanced(by: .seconds(1)) })
        loop.shutdown()
    }

    @Test("ticks may come at each nanosecond")
    func nanosecond() throws {
        try withLoop(.virtual) { loop in
            let start = loop.now
            let tick = loop.ticks(every: .nanoseconds(1)).first()
            try expect(tick, succeedsWith: start.advanced(by: .nanoseconds(1)))
        }
    }

    @Test("who asks again after the shutdown gets its error again, and nobody else hears of it")
    func afterShutdown() {
        let loop = EventLoop.virtual()
        let seen = Record()
        loop.onUnhandledFailure = { seen.add("unhandled \($0)") }
        let body = Future(on: loop) {
            for _ in 0..<2 {
                do { for try await _ in loop.ticks(every: .seconds(1)) {} } catch { seen.add("\(error)") }
            }
        }
        loop.advance(by: .milliseconds(1500))
        loop.shutdown()
        #expect(body.isCompleted)
        #expect(seen.entries == Array(repeating: "\(FutureError.shutDown)", count: 2))
    }

    @Test("two iterations have clocks of their own")
    func iterations() {
        let loop = EventLoop.virtual()
        let ticks = loop.ticks(every: .seconds(2))
        let (first, second) = (Record(), Record())
        Consumer.body.start(ticks, first, on: loop)
        loop.advance(by: .seconds(1))
        Consumer.actor.start(ticks, second, on: loop)
        loop.advance(by: .seconds(3))
        #expect(first.entries.count == 2 && second.entries.count == 1)
        loop.shutdown()
    }
}
