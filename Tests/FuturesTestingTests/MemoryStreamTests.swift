import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct MemoryStreamTests {
    /// Two ends of a connection, of which nothing may be left.
    private func withPair(
        limits: StreamLimits = StreamLimits(), capacity: Int = 65_536, faults: StreamFaults = StreamFaults(),
        _ body: (MemoryStream, MemoryStream, EventLoop) throws -> Void
    ) throws {
        let loop = EventLoop.virtual()
        var unhandled: [any Error] = []
        loop.onUnhandledFailure = { unhandled.append($0) }
        weak var weakEnd: MemoryStream?
        do {
            let (a, b) = try MemoryStream.pair(on: loop, limits: limits, capacity: capacity, faults: faults)
            weakEnd = a
            try body(a, b, loop)
            a.abort()
            b.abort()
            loop.advance(by: .zero)
        }
        #expect(weakEnd == nil)
        #expect(unhandled.isEmpty, "\(unhandled)")
        let alive = loop.statistics
        #expect(alive.futures == 0 && alive.promises == 0 && alive.timers == 0, "\(alive)")
        loop.onUnhandledFailure = nil
    }

    private func outcome<Value>(_ future: Future<Value>, _ loop: EventLoop) -> Result<Value, any Error> {
        Result { try loop.run(until: future) }
    }

    private func error<Value>(_ future: Future<Value>, _ loop: EventLoop) -> (any Error)? {
        if case .failure(let error) = outcome(future, loop) { error } else { nil }
    }

    @Test("what one end writes the other reads, up to the end, in both directions")
    func bothWays() throws {
        try withPair { (a, b, loop) throws in
            for (sender, reader) in [(a, b), (b, a)] {
                sender.write("one")
                sender.write([Data("two".utf8), Data(), Data("three".utf8)])
                sender.shutdownWrite()
                #expect(try loop.run(until: reader.readToEnd()) == Data("onetwothree".utf8))
            }
            try loop.run(until: a.close().and(b.close()).map { _ in })
        }
    }

    @Test("each time limit ends the connection, on virtual time", arguments: StreamTimeLimit.allCases)
    func timeLimits(_ limit: StreamTimeLimit) throws {
        var limits = StreamLimits()
        (limits.framingTimeout, limits.writeTimeout) = (nil, nil)
        switch limit {
        case .handshake: limits.handshakeTimeout = .seconds(10)
        case .framing: limits.framingTimeout = .seconds(10)
        case .read: limits.readTimeout = .seconds(10)
        case .write: limits.writeTimeout = .seconds(10)
        case .idle: limits.idleTimeout = .seconds(10)
        }
        try withPair(limits: limits, capacity: 1000) { (a, b, loop) throws in
            // So the handshake of the other end is complete.
            a.write("x")
            _ = try loop.run(until: b.read())
            let start = loop.now
            let pending: Future<Void>
            switch limit {
            case .handshake, .framing:
                pending = a.readLine().map { _ in }
                b.write("he")
            case .read: pending = a.read().map { _ in }
            case .write: pending = a.write(Data(count: 1_000_000))
            case .idle: pending = a.closed
            }
            loop.advance(by: .milliseconds(9_999))
            #expect(!pending.isCompleted)
            guard
                case .timedOut(limit, after: .seconds(10), let unread, let unsent)? = error(pending, loop)
                    as? StreamError
            else {
                Issue.record("\(pending)")
                return
            }
            #expect(start.duration(to: loop.now) < .seconds(limit == .write ? 14 : 11))
            #expect(unread == (limit == .handshake || limit == .framing ? 2 : 0))
            #expect((unsent > 0) == (limit == .write))
            #expect(error(a.closed, loop) as? StreamError == error(pending, loop) as? StreamError)
            loop.advance(by: .zero)
            #expect(b.closed.isCompleted || b.read().isCompleted, "the other end is told")
        }
    }

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

    @Test("a reader that stops holds the writer back, at the capacity and the reader's water mark")
    func backPressure() throws {
        var limits = StreamLimits()
        limits.readHighWaterMark = 1000
        limits.readLowWaterMark = 0
        limits.writeTimeout = nil
        try withPair(limits: limits, capacity: 2000) { (a, b, loop) throws in
            let first = try loop.run(
                until: {
                    a.write("x")
                    return b.read()
                }())
            #expect(first.count == 1)
            let write = a.write(Data(count: 10_000))
            loop.advance(by: .seconds(100))
            #expect(!write.isCompleted)
            #expect(a.bufferedBytes == 10_000 - 4000)
            #expect(try loop.run(until: b.read(exactly: 10_000))?.count == 10_000)
            try loop.run(until: write)
            #expect(a.bufferedBytes == 0)
        }
    }

    @Test("an abort resets the other end")
    func abort() throws {
        try withPair { (a, b, loop) throws in
            let read = b.read()
            a.abort()
            #expect(error(read, loop) as? MemoryStreamError == .connectionReset)
            #expect(error(b.closed, loop) as? MemoryStreamError == .connectionReset)
            #expect(error(a.closed, loop) == nil)
        }
    }

    @Test("what was sent before a close arrives; what comes to a closed end resets the other")
    func closed() throws {
        try withPair { (a, b, loop) throws in
            a.write("last words")
            try loop.run(until: a.close())
            #expect(try loop.run(until: b.readToEnd()) == Data("last words".utf8))
            b.write("too late")
            #expect(error(b.closed, loop) as? MemoryStreamError == .connectionReset)
        }
    }

    @Test(
        "an end that is closed before it has read everything hears the other out, as with a system's sockets")
    func closedUnread() throws {
        try withPair { (a, b, loop) throws in
            a.write("unread")
            loop.advance(by: .zero)
            b.write("answer")
            let close = b.close()
            #expect(try loop.run(until: a.readToEnd()) == Data("answer".utf8))
            #expect(!close.isCompleted)
            try loop.run(until: a.close())
            try loop.run(until: close)
        }
    }

    @Test("an end that goes on sending to a closed one is reset when the time for that is over")
    func closedForEver() throws {
        try withPair { (a, b, loop) throws in
            a.write("unread")
            try loop.run(until: b.close())
            #expect(try loop.run(until: a.readToEnd()).isEmpty)
            a.write("more")
            #expect(error(a.closed, loop) as? MemoryStreamError == .connectionReset)
        }
    }

    @Test("a write that waits for room fails by a reset, though bytes are unread")
    func resetWhileFull() throws {
        try withPair(capacity: 10) { (a, b, loop) throws in
            let write = a.write(Data(count: 100))
            b.write("unread")
            loop.advance(by: .zero)
            b.abort()
            #expect(error(write, loop) as? MemoryStreamError == .connectionReset)
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

    @Test("what is pending fails when the loop is shut down, and nothing is left")
    func shutdown() throws {
        let loop = EventLoop.virtual()
        let (a, b) = try MemoryStream.pair(on: loop, capacity: 10)
        let (read, write) = (a.read(), a.write(Data(count: 100)))
        loop.shutdown()
        for error in [read.map { _ in }, write, b.closed].map({ $0.ignoreFailure().result }) {
            guard case .failure(let error) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error as? FutureError == .shutDown)
        }
        #expect(throws: FutureError.shutDown) { try MemoryStream.pair(on: loop) }
    }

    @Test("arguments that make no sense are refused by name")
    func arguments() {
        let loop = EventLoop.virtual()
        func complaint(_ capacity: Int = 1, _ change: (inout StreamFaults) -> Void) -> String? {
            var faults = StreamFaults()
            change(&faults)
            do {
                _ = try MemoryStream.pair(on: loop, capacity: capacity, faults: faults)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(complaint(0) { _ in } == "a capacity of 0 bytes holds nothing; give at least 1")
        #expect(complaint { $0.cut = 1.5 } == "a probability of 1.5 to cut makes no sense; give 0 to 1")
        #expect(
            complaint { $0.reset = -.infinity }
                == "a probability of -inf to reset makes no sense; give 0 to 1")
        #expect(
            complaint { $0.maximumDelay = .seconds(-1) }
                == "delays of -1.0 seconds and 30.0 seconds make no sense; give zero or more")
    }
}
