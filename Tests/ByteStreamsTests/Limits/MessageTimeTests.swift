import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// The time limits of messages, however these are taken.
struct MessageTimeTests {
    private static let slack = Duration.milliseconds(1_100)

    enum Taking: CaseIterable {
        case read, exactly, until, line, message
        case forEachChunk, forEachSpan, forEachMessage
        case chunks, lines, messages

        /// Takes `a;` and a line feed, or the part of it that is a message.
        func take(from stream: ByteStream) -> Future<Void> {
            let decoder = SemicolonDecoder()
            switch self {
            case .read: return stream.read().asVoid()
            case .exactly: return stream.read(exactly: 3).asVoid()
            case .until: return stream.read(until: Data(";\n")).asVoid()
            case .line: return stream.readLine().asVoid()
            case .message: return stream.readMessage(decodedBy: decoder).asVoid()
            case .forEachChunk: return stream.forEachChunk { _ in }
            case .forEachSpan: return stream.forEachSpan { _ in }
            case .forEachMessage: return stream.forEachMessage(decodedBy: decoder) { _, _ in }
            case .chunks: return Future(on: stream.loop) { for try await _ in stream.chunks {} }
            case .lines: return Future(on: stream.loop) { for try await _ in stream.lines() {} }
            case .messages:
                return Future(on: stream.loop) {
                    for try await _ in stream.messages(decodedBy: decoder) {}
                }
            }
        }
    }

    @Test(
        "the first message that is taken ends the time limit of the first message",
        arguments: Taking.allCases, [false, true])
    func first(taking: Taking, hasCome: Bool) {
        var limits = StreamLimits()
        (limits.handshakeTimeout, limits.framingTimeout) = (.seconds(5), nil)
        withStream(limits: limits) { stream, transport, loop in
            stream.read().cancel()
            loop.advance(by: .zero)
            if hasCome { transport.deliver("a;\n") }
            let taken = taking.take(from: stream).ignoreFailure()
            loop.advance(by: .seconds(4))
            if !hasCome { transport.deliver("a;\n") }
            loop.advance(by: .seconds(100))
            #expect(stream.isOpen)
            taken.cancel()
            loop.advance(by: .zero)
        }
    }

    @Test("a read that is given up leaves the next one all its time")
    func givenUp() {
        withStream { stream, transport, loop in
            let first = stream.readLine()
            transport.deliver("a")
            loop.advance(by: .seconds(20))
            first.cancel()
            loop.advance(by: .seconds(100))
            let second = stream.readLine()
            loop.advance(by: .seconds(29))
            #expect(!second.isCompleted)
            transport.deliver("b\n")
            #expect(second.now == Data("ab"))
        }
    }

    @Test("each message has its time, also after one that was complete in time")
    func second() {
        withStream { stream, transport, loop in
            for isComplete in [true, false] {
                let line = stream.readLine()
                transport.deliver("a")
                loop.advance(by: .seconds(1))
                if isComplete { transport.deliver("\n") }
                loop.advance(by: .seconds(29) + Self.slack)
                #expect(isComplete ? line.now == Data("a") : line.streamError != nil)
                loop.advance(by: .seconds(100))
            }
        }
    }

    @Test("a limit that begins later and passes earlier passes in its time")
    func earlier() {
        var limits = StreamLimits()
        (limits.idleTimeout, limits.writeTimeout) = (.seconds(1_000), .seconds(30))
        withStream(limits: limits) { stream, transport, loop in
            transport.room = 0
            let write = stream.write("x")
            loop.advance(by: .seconds(30) + Self.slack)
            #expect(write.streamError == .timedOut(.write, after: .seconds(30), unread: 0, unsent: 1))
        }
    }
}
