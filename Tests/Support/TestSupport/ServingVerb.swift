public import ByteStreams
public import FoundationEssentials
public import Futures

/// What a handler does after it has answered, when its server begins to end.
public enum ServingVerb: String, CaseIterable, Codable, Sendable {
    // These wait for the next message, and for nothing else.
    case read, readExactly, readUntil, readLine, readMessage, timeout, chunks, lines, messages, bodyInBody
    case forEachChunk, forEachSpan, forEachSpanWaiting, forEachMessage
    // These wait for something else, or it cannot be told what for.
    case readToEnd, pipe, all, race, timer, mapFuture, otherBody, laterCallback

    public static let waiting = Array(allCases.prefix { $0 != .readToEnd })
    public static let others = Array(allCases.drop { $0 != .readToEnd })

    /// Serves lines, and ends when the peer has finished sending. The answer to a line is the line.
    public func serve(_ stream: ByteStream) -> Future<Void> {
        let loop = stream.loop
        func answer(_ line: Data) -> Future<Void> {
            stream.write(line.last == 10 ? line : line + Data("\n".utf8))
        }
        func answerAll<Element>(
            _ next: @escaping () -> Future<Element>, _ data: @escaping (Element) -> Data?
        ) -> Future<Void> {
            next().flatMap { element in
                guard let line = data(element) else { return loop.succeeded() }
                return answer(line).flatMap { answerAll(next, data) }
            }
        }
        func answerFirst(_ rest: @escaping () -> Future<Void>) -> Future<Void> {
            stream.readLine().unwrap().flatMap(answer).flatMap(rest)
        }
        switch self {
        case .read: return answerAll(stream.read) { $0.isEmpty ? nil : $0 }
        case .readExactly: return answerAll({ stream.read(exactly: 6) }, { $0 })
        case .readUntil: return answerAll({ stream.read(until: Data("\n".utf8)) }, { $0 })
        case .readLine: return answerAll({ stream.readLine() }, { $0 })
        case .readMessage: return answerAll({ stream.readMessage(decodedBy: Six()) }, { $0 })
        case .timeout: return answerAll({ stream.readLine().timeout(after: .seconds(500)) }, { $0 })
        case .chunks: return Future(on: loop) { for try await chunk in stream.chunks { _ = answer(chunk) } }
        case .lines: return Future(on: loop) { for try await line in stream.lines() { _ = answer(line) } }
        case .messages:
            return Future(on: loop) {
                for try await message in stream.messages(decodedBy: Six()) { try await answer(message).value }
            }
        case .bodyInBody:
            return Future(on: loop) { try await ServingVerb.lines.serve(stream).map { $0 }.value }
        case .forEachChunk: return stream.forEachChunk { answer($0) }
        case .forEachSpan: return stream.forEachSpan { bytes in stream.write(bytes) }
        case .forEachSpanWaiting:
            return stream.forEachSpan { bytes in
                let line = Data(copying: bytes)
                return loop.submit(on: .nextTurn) {}.flatMap { answer(line) }
            }
        case .forEachMessage:
            return stream.forEachMessage(decodedBy: Six()) { range, bytes in
                stream.write("")
                return stream.write(bytes)
            }
        case .readToEnd: return answerFirst { stream.readToEnd().asVoid() }
        case .pipe: return stream.pipe(to: stream, shuttingDownWrite: false).asVoid()
        case .all:
            return Future.all([ServingVerb.readLine.serve(stream), stream.loop.sleep(for: .seconds(1))])
                .asVoid()
        case .race:
            return Future.race([ServingVerb.readLine.serve(stream), stream.loop.sleep(for: .seconds(500))])
        case .timer:
            return answerFirst {
                let end = stream.readToEndOfLines()
                return loop.sleep(for: .seconds(500)).race(end)
            }
        case .mapFuture:
            return Future(on: loop) {
                for try await _ in stream.lines().mapFuture({ answer($0) }) {}
            }
        case .otherBody:
            let served = ServingVerb.lines.serve(stream).ignoreFailure()
            return Future(on: loop) {
                while !served.isCompleted { try await loop.sleep(for: .milliseconds(5)).value }
            }
        case .laterCallback:
            return stream.forEachChunk { chunk in
                loop.later(on: .nextTurn) { _ = answer(chunk) }
            }
        }
    }
}

extension ByteStream {
    fileprivate func readToEndOfLines() -> Future<Void> { ServingVerb.readLine.serve(self) }
}

extension Future {
    fileprivate func race(_ other: Future<Value>) -> Future<Value> { Future.race([self, other]) }
}

/// Messages of six bytes.
public struct Six: StreamDecoder {
    public init() {}

    public func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Range<Int>>? {
        bytes.byteCount < 6 ? nil : DecodedFrame(0..<6, byteCount: 6)
    }

    public func message(from frame: Range<Int>, _ bytes: RawSpan) -> Data {
        Data(copying: bytes.extracting(frame))
    }
}
