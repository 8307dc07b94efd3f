import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct ChangeBufferTests {
    private let loop = EventLoop.virtual()

    private func path(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    private func told(_ buffer: ChangeBuffer) -> [String] {
        var told: [String] = []
        while let change = buffer.takeFirst() { told.append("\(change)") }
        return told
    }

    @Test("a change is told when nothing has changed for the debounce")
    func quiet() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 100, on: loop.core)
        var times = 0
        buffer.onReady = { times += 1 }
        buffer.add(.created, path("a"))
        loop.advance(by: .milliseconds(49))
        buffer.add(.modified, path("a"))
        loop.advance(by: .milliseconds(49))
        #expect(times == 0 && told(buffer) == [])
        loop.advance(by: .milliseconds(1))
        #expect(times == 1 && told(buffer) == ["created a"])
        loop.advance(by: .seconds(1))
        #expect(times == 1 && loop.statistics.timers == 0)
        loop.shutdown()
    }

    @Test("changes that never pause are told after ten times the debounce")
    func cap() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 100, on: loop.core)
        var times: [Duration] = []
        let start = loop.now
        buffer.onReady = { [unowned buffer] in
            if buffer.takeFirst() != nil { times.append(start.duration(to: loop.now)) }
        }
        for _ in 0..<120 {
            buffer.add(.modified, path("log"))
            loop.advance(by: .milliseconds(10))
        }
        #expect(times == [.milliseconds(500), .milliseconds(1000)])
        loop.shutdown()
    }

    @Test("without a debounce each change is told, except a further write that nobody has looked for")
    func raw() {
        let buffer = ChangeBuffer(.zero, limit: 100, on: loop.core)
        buffer.add(.created, path("a"))
        buffer.add(.modified, path("a"))
        buffer.add(.modified, path("a"))
        buffer.add(.removed, path("a"))
        buffer.add(.moved(from: path("b")), path("c"), replaces: true)
        #expect(told(buffer) == ["created a", "modified a", "removed a", "moved b to c"])
        buffer.add(.modified, path("a"))
        #expect(told(buffer) == ["modified a"])
        buffer.add(.modified, path("a"))
        #expect(told(buffer) == ["modified a"])
        #expect(buffer.counts.merged == 1)
        buffer.add(.modified, path("a"))
        #expect(buffer.takeFirst()?.kind == .modified)
        buffer.add(.modified, path("a"))
        #expect(told(buffer) == ["modified a"])
        // While it waits behind another one, a further write is no change of its own.
        buffer.add(.created, path("b"))
        buffer.add(.modified, path("a"))
        #expect(buffer.takeFirst()?.kind == .created)
        buffer.add(.modified, path("a"))
        #expect(told(buffer) == ["modified a"])
        loop.shutdown()
    }

    @Test(
        "with a debounce, a file that is made again was modified, and one that is renamed twice was renamed")
    func folded() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 100, on: loop.core)
        buffer.add(.removed, path("a"))
        buffer.add(.created, path("a"))
        buffer.add(.moved(from: path("b")), path("c"))
        buffer.add(.moved(from: path("c")), path("d"))
        loop.advance(by: .milliseconds(50))
        #expect(told(buffer) == ["modified a", "moved b to d"])
        loop.shutdown()
    }

    @Test("changes that are too many with those of earlier bursts are counted and replaced at once")
    func overflow() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 3, on: loop.core)
        var calls: [String] = []
        buffer.onReady = { calls.append("ready") }
        buffer.onOverflow = { calls.append("overflow") }
        buffer.add(.created, path("a"))
        buffer.add(.modified, path("a"))
        buffer.add(.created, path("b"))
        loop.advance(by: .milliseconds(50))
        buffer.add(.created, path("c"))
        buffer.add(.modified, path("c"))
        #expect(calls == ["ready"] && buffer.counts.merged == 1)
        buffer.add(.created, path("d"))
        #expect(calls == ["ready", "overflow", "ready"])
        #expect(told(buffer) == ["look again"])
        #expect(buffer.counts.told == 1 && buffer.counts.merged == 2 && buffer.counts.overflows == 1)
        loop.shutdown()
    }

    @Test("changes of several bursts that have no order, and are more than are kept, become the advice, too")
    func noOrder() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 100_000, on: loop.core)
        for number in 0..<9_998 { buffer.add(.created, path("\(number)")) }
        buffer.flush()
        for (old, new) in [("a", "t"), ("b", "a"), ("t", "b")] {
            buffer.add(.moved(from: path(old)), path(new), isDirectory: true)
        }
        buffer.flush()
        #expect(buffer.counts.overflows == 0)
        #expect(told(buffer) == ["look again"] && buffer.counts.overflows == 1)
        // So do those of one burst, as soon as it ends.
        for number in 0..<9_998 { buffer.add(.created, path("\(number)")) }
        for (old, new) in [("a", "t"), ("b", "a"), ("t", "b")] {
            buffer.add(.moved(from: path(old)), path(new), isDirectory: true)
        }
        loop.advance(by: .milliseconds(50))
        #expect(buffer.counts.overflows == 2 && told(buffer) == ["look again"])
        loop.shutdown()
    }

    @Test("a buffer that is closed has nothing to take, and no timer")
    func closed() {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 100, on: loop.core)
        buffer.add(.created, path("a"))
        buffer.flush()
        buffer.add(.created, path("b"))
        #expect(loop.statistics.timers == 1)
        buffer.close()
        #expect(told(buffer) == [] && loop.statistics.timers == 0)
        loop.shutdown()
    }

    @Test("more changes than the limit become one advice to look again", arguments: [0, 50])
    func limit(debounce: Int) {
        let buffer = ChangeBuffer(.milliseconds(debounce), limit: 3, on: loop.core)
        for name in ["a", "b", "c"] { buffer.add(.created, path(name)) }
        buffer.flush()
        #expect(told(buffer).count == 3)
        for name in ["a", "b", "c", "d"] { buffer.add(.created, path(name)) }
        #expect(told(buffer) == ["look again"])
        loop.advance(by: .seconds(1))
        #expect(told(buffer) == [])
        loop.shutdown()
    }

    @Test("each change is told or merged, whatever comes after each other", arguments: [0, 50])
    func counts(debounce: Int) {
        let buffer = ChangeBuffer(.milliseconds(debounce), limit: 1000, on: loop.core)
        var random = SeededGenerator(seed: 7)
        var tree = RandomTree()
        for round in 1...200 {
            let before = buffer.counts
            var added: UInt64 = 0
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                for change in tree.change(&random) {
                    added += 1
                    buffer.add(
                        change.kind, change.path, isDirectory: change.isDirectory, replaces: change.replaces)
                }
                if round.isMultiple(of: 2), Int.random(in: 0..<4, using: &random) == 0 {
                    loop.advance(by: .milliseconds(60))
                }
            }
            buffer.flush()
            let taken = told(buffer).count
            #expect(buffer.counts.told - before.told == taken)
            // What cannot be told is an advice to look again.
            if debounce > 0, buffer.counts.overflows > before.overflows { continue }
            // A directory that gives its place to another one is told as removed, too.
            #expect(buffer.counts.told + buffer.counts.merged >= before.told + before.merged + added)
        }
        #expect(buffer.counts.overflows < (debounce > 0 ? 50 : 1))
        #expect(loop.core.watches.counts == buffer.counts)
        buffer.close()
        loop.shutdown()
    }

    @Test("the debounce keeps the loop alive only while somebody waits")
    func keepsAlive() throws {
        let buffer = ChangeBuffer(.milliseconds(50), limit: 3, on: loop.core)
        buffer.add(.created, path("a"))
        let start = loop.now
        try loop.run()
        #expect(start == loop.now)
        buffer.isAwaited = true
        try loop.run()
        #expect(told(buffer) == ["created a"])
        buffer.close()
        loop.shutdown()
    }
}
