public import ByteStreams
public import Futures

/// The server's side of a WebSocket (RFC 6455), on a stream on which the handshake has been accepted.
///
/// Pings are answered. What breaks the protocol, a text that is no UTF-8, and a message that is too long end it with the code
/// that RFC 6455 has for that. No extension is offered.
public final class WebSocket {
    public enum Message: Hashable, Sendable {
        case text(String)
        case binary([UInt8])
    }

    private let stream: ByteStream
    private let messageLimit: Int
    private let onMessage: (WebSocket, Message) throws -> Future<Void>
    /// The message that comes in several frames, and whether it is text. An idle WebSocket has no such thing.
    private var fragments: (bytes: [UInt8], isText: Bool)?
    private var hasSentClose = false
    private var lastFrame: LoopInstant

    /// Thrown to stop reading, when the peer has closed.
    private struct Ended: Error {}

    /// Creates a WebSocket. It calls `onMessage` with each message while ``serve()`` runs, and calls it again when the
    /// future that it returned has completed.
    public init(
        _ stream: ByteStream, messageLimit: Int = 1_048_576,
        onMessage: @escaping (WebSocket, Message) throws -> Future<Void>
    ) {
        self.stream = stream
        self.messageLimit = messageLimit
        self.onMessage = onMessage
        lastFrame = stream.loop.now
    }

    /// Serves until one of both sides has closed. Completes then, also when the peer has broken the protocol and was told.
    ///
    /// Fails with the error that breaks the connection, and with the error that `onMessage` throws: then the peer is told
    /// 1011, an internal error.
    public func serve() -> Future<Void> {
        stream.forEachMessage(decodedBy: WebSocketFrameDecoder(payloadLimit: messageLimit)) {
            [self] frame, bytes in
            try handle(frame, bytes)
        }
        .recover { [self] error in
            switch error {
            case is Ended: return
            case let error as WebSocketError: close(error.code, error.reason)
            default:
                close(1011, "")
                throw error
            }
        }
    }

    /// Closes with 1001 if nothing has come or gone for seven eighths of the time that the stream's limits allow: the stream would
    /// end without a word. Call it for all WebSockets from time to time, since a timer of each would take much memory.
    public func closeIfIdle() {
        guard let limit = stream.limits.idleTimeout,
            lastFrame.duration(to: stream.loop.now) >= limit * 7 / 8
        else { return }
        close(1001, "nothing has come for a while")
    }

    /// Sends a text. Completes when the system has taken it.
    @discardableResult
    public func send(_ text: String) -> Future<Void> { send(.text, Array(text.utf8)) }

    @discardableResult
    public func send(_ bytes: [UInt8]) -> Future<Void> { send(.binary, bytes) }

    /// Tells the peer that this side closes, and why. The peer answers, and ``serve()`` completes. Nothing can be sent
    /// after that.
    public func close(_ code: Int = 1000, _ reason: String = "") {
        guard !hasSentClose else { return }
        let payload = [UInt8(code >> 8), UInt8(code & 255)] + reason.utf8.prefix(123)
        send(.close, payload)
        hasSentClose = true
    }

    @discardableResult
    private func send(_ opcode: WebSocketFrame.Opcode, _ payload: [UInt8]) -> Future<Void> {
        guard !hasSentClose else {
            return stream.loop.failed(StreamError.connectionClosed).ignoreFailure()
        }
        lastFrame = stream.loop.now
        var frame: [UInt8] = []
        frame.reserveCapacity(payload.count + 10)
        frame.append(frame: opcode, payload)
        return stream.write(frame)
    }

    private func handle(_ frame: WebSocketFrame, _ bytes: RawSpan) throws -> Future<Void> {
        lastFrame = stream.loop.now
        var payload: [UInt8] = []
        switch frame.opcode {
        case .ping:
            frame.append(bytes, to: &payload)
            send(.pong, payload)
        case .pong: break
        case .close:
            frame.append(bytes, to: &payload)
            try answerClose(payload)
        case .continuation:
            guard fragments != nil else {
                throw WebSocketError.breach("a message begins with a continuation")
            }
            guard fragments!.bytes.count + frame.payload.count <= messageLimit else {
                throw WebSocketError.tooLong(messageLimit)
            }
            frame.append(bytes, to: &fragments!.bytes)
            guard frame.isFinal, let whole = fragments.take() else { break }
            return try deliver(whole.bytes, isText: whole.isText)
        case .text, .binary:
            guard fragments == nil else { throw WebSocketError.breach("a message begins within another one") }
            frame.append(bytes, to: &payload)
            guard frame.isFinal else {
                fragments = (payload, frame.opcode == .text)
                break
            }
            return try deliver(payload, isText: frame.opcode == .text)
        }
        // Whoever sends pings and reads no pongs waits, too.
        return stream.writable
    }

    private func deliver(_ bytes: [UInt8], isText: Bool) throws -> Future<Void> {
        // The decoder has looked at the text.
        try onMessage(self, isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes))
    }

    /// Answers a close frame with the same code, and stops reading.
    private func answerClose(_ payload: [UInt8]) throws {
        guard payload.count != 1 else { throw WebSocketError.breach("a close frame has half a code") }
        if payload.count >= 2 {
            let code = Int(payload[0]) << 8 | Int(payload[1])
            guard Self.mayBeSent(code) else {
                throw WebSocketError.breach("\(code) is no code of a close frame")
            }
            guard String(validating: payload[2...], as: UTF8.self) != nil else {
                throw WebSocketError.notUTF8("the reason of a close frame")
            }
            close(code)
        } else if !hasSentClose {
            send(.close, [])
            hasSentClose = true
        }
        throw Ended()
    }

    /// Whether a peer may send `code`: those of RFC 6455, those registered since then, and those that are free for use.
    private static func mayBeSent(_ code: Int) -> Bool {
        (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
    }
}
