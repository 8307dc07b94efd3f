public import ByteStreams
internal import HTTP1

/// A frame of a WebSocket, as offsets into the bytes that came.
public struct WebSocketFrame: Hashable, Sendable {
    public enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    public let opcode: Opcode
    /// Whether this is the last frame of its message.
    public let isFinal: Bool
    /// What the client has mixed into the payload, byte by byte. Here, where it takes no more memory.
    let mask: UInt32
    public let payload: Range<Int>

    /// Appends the payload to `message`, without the mask. `bytes` are the bytes of the frame.
    func append(_ bytes: RawSpan, to message: inout [UInt8]) {
        let start = message.count
        message.append(copying: bytes.extracting(payload))
        var mask = mask
        for index in start..<message.count {
            message[index] ^= UInt8(truncatingIfNeeded: mask >> 24)
            mask = mask << 8 | mask >> 24
        }
    }
}

/// Finds the frames that a client sends. Throws ``WebSocketError`` if they break the rules of RFC 6455, and at the first byte
/// with which a text is no UTF-8.
public struct WebSocketFrameDecoder: StreamDecoder, Sendable {
    /// The most bytes that the payload of a frame may have, which are less than 4 GiB.
    public let payloadLimit: Int
    /// The text whose frames come. Frames of control may be between them.
    private var text: UTF8Scanner?
    /// The bytes of the payload that `text` has seen.
    private var scannedCount: UInt32 = 0

    public init(payloadLimit: Int) { self.payloadLimit = min(payloadLimit, Int(UInt32.max)) }

    public var maximumSize: Int { payloadLimit + 14 }

    public mutating func decode(_ raw: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<WebSocketFrame>? {
        let bytes = raw.octets
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[0], bytes[1])
        guard first & 0x70 == 0 else {
            throw WebSocketError.breach("a reserved bit is set, and no extension was agreed on")
        }
        guard let opcode = WebSocketFrame.Opcode(rawValue: first & 15) else {
            throw WebSocketError.breach("there is no opcode \(first & 15)")
        }
        guard second & 0x80 != 0 else { throw WebSocketError.breach("a frame of a client is not masked") }
        let isFinal = first & 0x80 != 0
        var (size, header) = (Int(second & 0x7f), 2)
        if opcode.isControl {
            guard isFinal, size <= 125 else {
                throw WebSocketError.breach("a control frame is fragmented, or has more than 125 bytes")
            }
        } else if size >= 126 {
            header = size == 126 ? 4 : 10
            guard bytes.count >= header else { return nil }
            let least = size == 126 ? 126 : 65_536
            size = 0
            for index in 2..<header {
                guard size < 1 << 55 else { throw WebSocketError.tooLong(payloadLimit) }
                size = size << 8 | Int(bytes[index])
            }
            guard size >= least else { throw WebSocketError.breach("a length is not in its shortest form") }
        }
        guard size <= payloadLimit else { throw WebSocketError.tooLong(payloadLimit) }
        let start = header + 4
        guard bytes.count >= start else { return nil }
        var mask: UInt32 = 0
        for index in header..<start { mask = mask << 8 | UInt32(bytes[index]) }
        if opcode == .text, text == nil { text = UTF8Scanner() }
        if !opcode.isControl { try scan(bytes, start, size, mask) }
        guard bytes.count >= start + size else { return nil }
        if !opcode.isControl { try endFrame(isLast: isFinal) }
        return DecodedFrame(
            WebSocketFrame(opcode: opcode, isFinal: isFinal, mask: mask, payload: start..<start + size),
            byteCount: start + size)
    }

    /// Looks at what has come of a payload of `size` bytes that begins at `start`.
    private mutating func scan(_ bytes: Span<UInt8>, _ start: Int, _ size: Int, _ mask: UInt32) throws {
        guard text != nil else { return }
        let end = min(size, bytes.count - start)
        for index in Int(scannedCount)..<end {
            let byte = bytes[start + index] ^ UInt8(truncatingIfNeeded: mask >> (24 - index % 4 * 8))
            guard text!.accepts(byte) else { throw WebSocketError.notUTF8("a text") }
        }
        scannedCount = UInt32(end)
    }

    private mutating func endFrame(isLast: Bool) throws {
        scannedCount = 0
        guard isLast, let text = text.take() else { return }
        guard text.isComplete else { throw WebSocketError.notUTF8("a text") }
    }
}

extension [UInt8] {
    /// Appends a frame that a server sends.
    mutating func append(frame opcode: WebSocketFrame.Opcode, _ payload: [UInt8]) {
        append(0x80 | opcode.rawValue)
        let count = payload.count
        switch count {
        case ..<126: append(UInt8(count))
        case ..<65_536: append(contentsOf: [126, UInt8(count >> 8), UInt8(count & 255)])
        default:
            append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        append(contentsOf: payload)
    }
}
