import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct MemoryLinkTests {
    @Test("without faults each write arrives by itself, at once")
    func noFaults() throws {
        try withPair { (a, b, loop) throws in
            let start = loop.now
            for text in ["one", "two"] { a.write(text) }
            #expect(try loop.run(until: b.read()) == Data("one".utf8))
            #expect(try loop.run(until: b.read()) == Data("two".utf8))
            #expect(loop.now == start)
            #expect(a.injectedFaults == StreamFaults.Counts())
        }
    }

    @Test("a delay is as long as the seed says, up to the limit, and keeps the order")
    func delay() throws {
        var faults = StreamFaults(seed: 1)
        faults.delay = 1
        faults.maximumDelay = .seconds(2)
        try withPair(faults: faults) { (a, b, loop) throws in
            let start = loop.now
            for number in 0..<10 { a.write("\(number)") }
            #expect(try loop.run(until: b.read(exactly: 10)) == Data("0123456789".utf8))
            let passed = start.duration(to: loop.now)
            #expect(passed > .zero && passed < .seconds(2), "\(passed)")
            #expect(a.injectedFaults.delayed == 10)
        }
    }

    @Test("a fragmented write arrives in parts, coalesced ones as one")
    func pieces() throws {
        var faults = StreamFaults(seed: 1)
        faults.fragment = 1
        try withPair(faults: faults) { (a, b, loop) throws in
            a.write("0123456789")
            #expect(try loop.run(until: b.read()).count < 10)
            #expect(a.injectedFaults.fragmented == 1)
        }
        faults.fragment = 0
        faults.coalesce = 1
        try withPair(faults: faults) { (a, b, loop) throws in
            for text in ["one", "two", "three"] { a.write(text) }
            #expect(try loop.run(until: b.read()) == Data("onetwothree".utf8))
            #expect(b.injectedFaults.coalesced == 2)
        }
    }

    @Test("an injected reset breaks both ends within the limit")
    func reset() throws {
        var faults = StreamFaults(seed: 1)
        faults.reset = 1
        try withPair(faults: faults) { (a, b, loop) throws in
            let start = loop.now
            a.write("x")
            #expect(error(a.closed, loop) as? MemoryStreamError == .connectionReset)
            #expect(try loop.run(until: b.read()) == Data("x".utf8))
            #expect(error(b.closed, loop) as? MemoryStreamError == .connectionReset)
            #expect(start.duration(to: loop.now) <= .milliseconds(100))
            #expect(a.injectedFaults.resets == 1)
        }
    }

    @Test("a cut is noticed late by who has sent something, and never by who only reads")
    func cut() throws {
        var faults = StreamFaults(seed: 1)
        faults.cut = 1
        faults.cutNotice = .seconds(7)
        try withPair(faults: faults) { (a, b, loop) throws in
            let read = b.read()
            let start = loop.now
            try loop.run(until: a.write("lost"))
            #expect(error(a.closed, loop) as? MemoryStreamError == .timedOut)
            #expect(start.duration(to: loop.now) == .seconds(7))
            loop.advance(by: .seconds(1_000_000))
            #expect(!read.isCompleted)
            #expect(error(read, loop) as? FutureError == .stalled)
            #expect(a.injectedFaults.cuts == 1)
        }
    }
}
