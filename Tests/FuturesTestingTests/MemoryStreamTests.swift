import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct MemoryStreamTests {
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
        limits[limit] = .seconds(10)
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
            case .idle, .lifetime: pending = a.closed
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
        #expect(complaint(0) { _ in } == "capacity must be at least 1, not 0")
        #expect(complaint(1) { ($0.maximumDelay, $0.cutNotice) = (.zero, .zero) } == nil)
        #expect(
            complaint { $0.cutNotice = .seconds(-1) }
                == "maximumDelay and cutNotice must be zero or more, not 0.1 seconds and -1.0 seconds")
        #expect(complaint { $0.cut = 1.5 } == "cut must be a probability from 0 to 1, not 1.5")
        #expect(
            complaint { $0.reset = -.infinity }
                == "reset must be a probability from 0 to 1, not -inf")
        #expect(
            complaint { $0.maximumDelay = .seconds(-1) }
                == "maximumDelay and cutNotice must be zero or more, not -1.0 seconds and 30.0 seconds")
    }
}
