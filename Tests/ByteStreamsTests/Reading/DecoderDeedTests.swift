import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What a decoder does with its stream while it decodes.
enum DecoderDeed: String, CaseIterable, CustomTestStringConvertible {
    case nothing, write, shutdownWrite, read, readMessage, cancel, close, abort

    var testDescription: String { rawValue }

    var ends: Bool { self == .close || self == .abort }
}

/// How the bytes of two messages come, and which of them come before the read.
enum Arrival: String, CaseIterable, CustomTestStringConvertible {
    case before, half, one, both, pieces

    var testDescription: String { rawValue }

    var early: String? { self == .before ? "one;two;" : self == .half ? "on" : nil }

    var parts: [String] {
        switch self {
        case .before: []
        case .half: ["e;t", "wo;"]
        case .one: ["one;", "two;"]
        case .both: ["one;two;"]
        case .pieces: ["o", "ne;t", "w", "o;"]
        }
    }
}

/// Finds messages that end with a semicolon, and does something first.
private struct DoingDecoder: StreamDecoder {
    let deed: () -> Void

    func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Range<Int>>? {
        deed()
        let text = bytes.text(0..<bytes.byteCount).utf8
        guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let size = text.distance(from: text.startIndex, to: end)
        return DecodedFrame(0..<size, byteCount: size + 1)
    }

    func message(from frame: Range<Int>, _ bytes: RawSpan) -> String { bytes.text(frame) }
}

struct DecoderDeedTests {
    enum Verb: String, CaseIterable { case forEachMessage, readMessage, messages }

    /// What has been seen of one case.
    private final class Seen {
        var messages: [String] = []
        var nested: [String] = []
        var done: Future<Void>?
        var isDone = false
    }

    @Test(
        "whatever a decoder does with its stream, each byte is read once, and the read ends as it should",
        arguments: Verb.allCases.flatMap { verb in DecoderDeed.allCases.map { (verb, $0) } },
        Arrival.allCases)
    func deeds(_ way: (verb: Verb, deed: DecoderDeed), arrival: Arrival) {
        withStream { stream, transport, loop in
            let seen = Seen()
            if let early = arrival.early {
                let first = stream.read(exactly: 1)
                transport.deliver("!" + early)
                #expect(first.now == Data("!".utf8))
            }
            let decoder = DoingDecoder { [unowned stream] in
                guard !seen.isDone else { return }
                seen.isDone = true
                act(way.deed, on: stream, seen)
            }
            seen.done = read(way.verb, stream, decoder, seen)
            loop.advance(by: .zero)
            for part in arrival.parts { transport.deliver(part) }
            loop.advance(by: .zero)
            #expect(seen.isDone)
            if way.deed.ends {
                #expect(seen.messages == [])
                transport.finishClose()
                loop.advance(by: .zero)
                #expect(seen.done!.isCompleted)
            } else if seen.done!.isCompleted {
                // A body gets what is there already, and its next wait is cancelled.
                #expect(way.deed == .cancel && (way.verb == .messages || seen.messages == []))
                let left = Data(["one;", "two;"].dropFirst(seen.messages.count).joined().utf8)
                #expect(left.isEmpty || stream.read(exactly: left.count).now == left)
            } else {
                #expect(seen.messages == ["one", "two"])
                transport.deliverEnd()
                loop.advance(by: .zero)
                #expect(seen.done!.succeeded)
            }
            #expect(seen.nested.allSatisfy { !$0.hasPrefix("got") })
            #expect(seen.nested.count == (way.deed == .read || way.deed == .readMessage ? 1 : 0))
            seen.done?.ignoreFailure()
            seen.done = nil
        }
    }

    private func read(
        _ verb: Verb, _ stream: ByteStream, _ decoder: DoingDecoder, _ seen: Seen
    ) -> Future<Void> {
        switch verb {
        case .forEachMessage:
            stream.forEachMessage(decodedBy: decoder) { seen.messages.append($1.text($0)) }
        case .readMessage:
            stream.readMessage(decodedBy: decoder).flatMap { [self] message in
                guard let message else { return stream.loop.succeeded() }
                seen.messages.append(message)
                return read(verb, stream, decoder, seen)
            }
        case .messages:
            Future(on: stream.loop) {
                for try await message in stream.messages(decodedBy: decoder) { seen.messages.append(message) }
            }
        }
    }

    private func act(_ deed: DecoderDeed, on stream: ByteStream, _ seen: Seen) {
        switch deed {
        case .nothing: break
        case .write: stream.write("hello").ignoreFailure()
        case .shutdownWrite: stream.shutdownWrite().ignoreFailure()
        case .read: note(stream.read(), seen)
        case .readMessage: note(stream.readMessage(decodedBy: DoingDecoder {}), seen)
        case .cancel: seen.done?.cancel()
        case .close: stream.close().ignoreFailure()
        case .abort: stream.abort()
        }
    }

    private func note<Value>(_ read: Future<Value>, _ seen: Seen) {
        read.whenComplete { result in
            switch result {
            case .success(let value): seen.nested.append("got \(value)")
            case .failure(let error): seen.nested.append("\(error)")
            }
        }
    }
}
