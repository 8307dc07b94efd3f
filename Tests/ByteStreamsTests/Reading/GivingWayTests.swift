import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What comes together is passed on in several turns, if the turns have little time.
struct GivingWayTests {
    /// The ways to read what is in the buffer.
    enum Reading: CaseIterable {
        case forEachMessage, forEachMessageWithFuture, forEachChunk, forEachSpan, pipe
        case lines, chunks, messages
        case readLine, read, readExactly, readUntil, readMessage

        /// Whether the bytes come as the system brings them, and not message by message.
        var isOfChunks: Bool { [.forEachChunk, .forEachSpan, .pipe, .chunks, .read].contains(self) }
    }

    private static let count = 100
    private static let line = "0123456789;\n"
    private static let text = String(repeating: line, count: count)

    /// What one way has read: its text, how often it was called, and how often others had their turn meanwhile.
    private final class Seen {
        var text = ""
        var calls = 0
        var turns = 0
        private var isOver = false

        func add(_ bytes: Data) {
            text += String(decoding: bytes, as: UTF8.self)
            calls += 1
        }

        func countTurns(of loop: EventLoop) {
            guard !isOver else { return }
            turns += 1
            loop.later(on: .nextTurn) { self.countTurns(of: loop) }
        }

        func stop() { isOver = true }
    }

    /// Starts to read. The future completes at the end, or fails with the error of the stream.
    private func start(_ reading: Reading, _ stream: ByteStream, _ seen: Seen) -> Future<Void> {
        let loop = stream.loop
        let decoder = SemicolonDecoder(takesUnterminated: true)
        let (size, delimiter) = (Self.line.utf8.count, Data(";\n".utf8))
        func addMessage(_ range: Range<Int>, _ bytes: RawSpan) { seen.add(Data(copying: bytes)) }
        func body(_ next: @escaping () -> Future<Data?>, adding end: String) -> Future<Void> {
            Future(on: loop) {
                while let message = try await next().value { seen.add(message + end.utf8) }
            }
        }
        switch reading {
        case .forEachMessage: return stream.forEachMessage(decodedBy: decoder, addMessage)
        case .forEachMessageWithFuture:
            return stream.forEachMessage(decodedBy: decoder) { range, bytes in
                addMessage(range, bytes)
                return loop.submit {}
            }
        case .forEachChunk: return stream.forEachChunk { seen.add($0) }
        case .forEachSpan: return stream.forEachSpan { seen.add(Data(copying: $0)) }
        case .pipe:
            let (target, to) = makeStream(on: loop)
            target.closed.whenComplete { _ in seen.add(to.sent) }
            return stream.pipe(to: target, shuttingDownWrite: false).asVoid().always {
                seen.calls = to.writes
                target.abort()
                to.finishClose()
            }
        case .lines:
            return Future(on: loop) { for try await line in stream.lines() { seen.add(line + "\n".utf8) } }
        case .chunks: return Future(on: loop) { for try await chunk in stream.chunks { seen.add(chunk) } }
        case .messages:
            return Future(on: loop) {
                for try await message in stream.messages(decodedBy: decoder) {
                    seen.add(Data((message + ";").utf8))
                }
            }
        case .readLine: return body({ stream.readLine() }, adding: "\n")
        case .read: return body({ stream.read().map { $0.isEmpty ? Data?.none : $0 } }, adding: "")
        case .readExactly: return body({ stream.read(exactly: size) }, adding: "")
        case .readUntil: return body({ stream.read(until: delimiter) }, adding: ";\n")
        case .readMessage:
            return body(
                { stream.readMessage(decodedBy: decoder).map { $0.map { Data($0.utf8) } } }, adding: ";")
        }
    }

    /// How what comes ends.
    enum End: CaseIterable {
        case end, failure
    }

    @Test(
        "others have their turn while what has come is read, and nothing of it is lost at the end",
        arguments: Reading.allCases, End.allCases)
    func turns(reading: Reading, end: End) throws {
        // While the reader waits for a future of its body, a failure ends it at once, and the rest stays readable.
        if reading == .forEachMessageWithFuture, end == .failure { return }
        withStream(limits: .large) { stream, transport, loop in
            loop.core.setTurnShare(.zero, stride: 0)
            // Nobody reads yet, so that all of it comes into the buffer.
            stream.read().cancel()
            loop.advance(by: .zero)
            let block = reading.isOfChunks ? String(repeating: "x", count: 5000) : Self.text
            for _ in 0..<(reading.isOfChunks ? Self.count : 1) { transport.deliver(block) }
            let whole = reading.isOfChunks ? String(repeating: block, count: Self.count) : Self.text
            let seen = Seen()
            seen.countTurns(of: loop)
            let done = start(reading, stream, seen).always(seen.stop)
            switch end {
            case .end: transport.deliverEnd()
            case .failure:
                // Fails while the reader gives way.
                loop.later { loop.later(on: .nextTurn) { transport.fail() } }
            }
            loop.advance(by: .zero)
            #expect(seen.text == whole || seen.text + "\n" == whole || seen.text == whole + ";")
            #expect(seen.calls >= Self.count)
            // A body that waits for a future goes on from the ready queue, of which a turn runs 16.
            let fewest = reading == .forEachMessageWithFuture ? 4 : Self.count / 4
            // What a broken stream has left, a body takes at once.
            if end == .end { #expect(seen.turns >= fewest, "\(seen.turns) turns") }
            #expect(done.isCompleted)
            if end == .end { #expect(done.succeeded) } else { done.ignoreFailure() }
            done.cancel()
        }
    }

    @Test("a reader that gives way and is cancelled leaves the rest, and the next one gets it at once")
    func cancelled() throws {
        try withStream { stream, transport, loop in
            loop.core.setTurnShare(.zero, stride: 0)
            var seen: [String] = []
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { range, bytes in
                seen.append(bytes.text(range))
            }
            loop.advance(by: .zero)
            transport.deliver("a;b;c;d;")
            #expect(seen == ["a"])
            done.cancel()
            let rest = stream.readToEnd()
            transport.deliver("e;")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(seen == ["a"])
            let bytes = try rest.result?.get()
            #expect(bytes == Data("b;c;d;e;".utf8))
        }
    }

    /// What this side does while a reader gives way.
    enum Ending: CaseIterable {
        case close, abort
    }

    @Test(
        "a stream that this side ends while a reader gives way passes nothing on", arguments: Ending.allCases)
    func ended(ending: Ending) {
        withStream { stream, transport, loop in
            loop.core.setTurnShare(.zero, stride: 0)
            var seen = 0
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in seen += 1 }
            loop.advance(by: .zero)
            transport.deliver("a;b;c;d;")
            switch ending {
            case .close: stream.close()
            case .abort: stream.abort().ignoreFailure()
            }
            #expect(done.isCompleted)
            done.ignoreFailure()
            loop.advance(by: .zero)
            #expect(seen == 1)
        }
    }

    @Test("a peer whose bytes wait for their turn is held back")
    func backPressure() {
        var limits = StreamLimits()
        (limits.readHighWaterMark, limits.readLowWaterMark) = (8, 2)
        withStream(limits: limits) { stream, transport, loop in
            loop.core.setTurnShare(.zero, stride: 0)
            var seen = 0
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in seen += 1 }
            loop.advance(by: .zero)
            transport.deliver("a;b;c;d;e;f;")
            #expect(seen == 1 && !transport.isReading)
            loop.advance(by: .zero)
            #expect(seen == 6 && transport.isReading)
            done.cancel()
        }
    }
}

extension StreamLimits {
    /// Limits with which the buffer takes what the tests deliver.
    fileprivate static var large: StreamLimits {
        var limits = StreamLimits()
        limits.readHighWaterMark = 1 << 20
        return limits
    }
}
