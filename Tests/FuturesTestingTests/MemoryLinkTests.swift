import ByteStreams
import FoundationEssentials
import Futures
import Testing

@testable import FuturesTesting

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

    @Test("a part has a byte at least, and a write has two to five parts, as far as it has bytes")
    func parts() throws {
        var counts: [Int: Set<Int>] = [:]
        for seed in 0..<100 as Range<UInt64> {
            var faults = StreamFaults(seed: seed)
            faults.fragment = 1
            for size in [1, 2, 60_000] {
                try withPair(faults: faults) { (a, b, loop) throws in
                    a.write(Data(count: size))
                    a.shutdownWrite()
                    var parts = 0
                    try loop.run(until: b.forEachChunk { _ in parts += 1 })
                    counts[size, default: []].insert(parts)
                    #expect(a.injectedFaults.fragmented == (size == 1 ? 0 : 1))
                }
            }
        }
        #expect(counts[1] == [1] && counts[2] == [1, 2])
        #expect(counts[60_000]?.max() == 5 && counts[60_000]?.contains(2) == true)
    }

    @Test(
        "each piece arrives after its own delay, or the joined ones after the longer",
        arguments: [false, true])
    func delays(coalescing: Bool) throws {
        for seed in 0..<10 as Range<UInt64> {
            var faults = StreamFaults(seed: seed)
            (faults.delay, faults.coalesce) = (1, coalescing ? 1 : 0)
            var random = SplitMix(seed)
            // Of each piece, the first number says that it is late, and the second one how late.
            let delays = (0..<2).map { _ in
                _ = random.next()
                return faults.maximumDelay * random.fraction()
            }
            try withPair(faults: faults) { (a, b, loop) throws in
                let start = loop.now
                var times: [Duration] = []
                b.forEachChunk { _ in times.append(start.duration(to: loop.now)) }.ignoreFailure()
                for text in ["1", "2"] { a.write(text) }
                loop.advance(by: .seconds(1))
                let last = max(delays[0], delays[1])
                let expected = coalescing ? [last] : [delays[0], last]
                #expect(times.count == expected.count)
                #expect(zip(times, expected).allSatisfy { abs($0 - $1) < .microseconds(1) })
            }
        }
    }

    private func abs(_ duration: Duration) -> Duration { max(duration, .zero - duration) }

    @Test("a reset overtakes what is under way")
    func overtaking() throws {
        var faults = StreamFaults(seed: 1)
        faults.delay = 1
        try withPair(faults: faults) { (a, b, loop) throws in
            let read = b.read()
            try loop.run(until: a.write("lost"))
            a.abort()
            #expect(error(read, loop) as? MemoryStreamError == .connectionReset)
        }
    }

    @Test("an injected reset comes though one end is closed, and not when both are")
    func closedBefore() throws {
        var faults = StreamFaults(seed: 1)
        faults.reset = 1
        try withPair(faults: faults) { (a, b, loop) throws in
            b.closed.ignoreFailure()
            a.write("x")
            b.shutdownWrite()
            try loop.run(until: a.close())
            loop.advance(by: .seconds(1))
            #expect(a.injectedFaults.resets == 1)
        }
        try withPair(faults: faults) { (a, b, loop) throws in
            try loop.run(until: a.write("x"))
            for end in [a, b] { end.abort() }
            loop.advance(by: .seconds(1))
            #expect(a.injectedFaults.resets == 0)
        }
    }

    @Test("a cut is noticed by both ends if both have sent what has not arrived")
    func cutBothWays() throws {
        var count = 0
        for seed in 0..<20 as Range<UInt64> {
            var faults = StreamFaults(seed: seed)
            (faults.delay, faults.cut) = (1, 0.5)
            try withPair(faults: faults) { (a, b, loop) throws in
                try loop.run(until: b.write("1"))
                guard a.injectedFaults.cuts == 0 else { return }
                try loop.run(until: a.write("2"))
                guard a.injectedFaults.cuts == 1 else { return }
                count += 1
                for end in [a, b] { #expect(error(end.closed, loop) as? MemoryStreamError == .timedOut) }
            }
        }
        #expect(count > 0)
    }
}
