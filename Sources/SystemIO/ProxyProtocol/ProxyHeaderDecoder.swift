public import ByteStreams
internal import FoundationEssentials
internal import Futures

/// Finds a ``ProxyHeader`` at the start of a connection, in either version.
///
/// Fails with ``ProxyProtocolError`` at the first byte that cannot be part of a header. Servers use this decoder
/// through ``SocketServer/proxyProtocol``. Use it yourself on other streams:
///
/// ```swift
/// let header = connection.readMessage(decodedBy: ProxyHeaderDecoder())
/// ```
public struct ProxyHeaderDecoder: StreamDecoder, Sendable {
    /// The most bytes of a header of version 2. A longer one fails with ``ProxyProtocolError/tooLong(limit:)``.
    public let limit: Int
    /// The number of bytes that were looked at.
    private var looked = 0

    /// Creates a decoder of headers with at most `limit` bytes. A header of version 1 never has more than 107. Traps if
    /// `limit` is less than 16, the size of the shortest header of version 2.
    public init(limit: Int = 4096) {
        if limit < 16 { Misuse.size(limit, of: "The limit of a PROXY header's size", atLeast: 16) }
        self.limit = limit
    }

    static let signature = Array("\r\n\r\n\0\r\nQUIT\n".utf8)
    static let word = Array("PROXY ".utf8)
    static let maximumLine = 107

    // One more than the decoder takes, so that the decoder itself reports a header that is too long.
    public var maximumSize: Int { max(limit, Self.maximumLine) + 1 }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<ProxyHeader>? {
        let isText = bytes.byte(at: 0) == Self.word[0]
        let start = isText ? Self.word : Self.signature
        while looked < min(start.count, bytes.byteCount) {
            guard bytes.byte(at: looked) == start[looked] else {
                throw ProxyProtocolError.missing(byte: looked)
            }
            looked += 1
        }
        guard looked >= start.count, let size = try isText ? lineSize(bytes) : binarySize(bytes) else {
            return nil
        }
        guard size <= bytes.byteCount else { return nil }
        looked = 0
        let header = [UInt8](Data(copying: bytes.extracting(first: size)))
        return DecodedFrame(
            isText ? try ProxyHeader(line: header[..<(size - 2)]) : try ProxyHeader(binary: header),
            byteCount: size)
    }

    private mutating func lineSize(_ bytes: RawSpan) throws -> Int? {
        while looked < min(bytes.byteCount, Self.maximumLine) {
            looked += 1
            if bytes.byte(at: looked - 1) == UInt8(ascii: "\n") {
                guard bytes.byte(at: looked - 2) == UInt8(ascii: "\r") else {
                    throw ProxyProtocolError.malformed(.v1, "the line ends without a carriage return")
                }
                return looked
            }
        }
        guard looked < Self.maximumLine else { throw ProxyProtocolError.tooLong(limit: Self.maximumLine) }
        return nil
    }

    private func binarySize(_ bytes: RawSpan) throws -> Int? {
        guard bytes.byteCount > 12 else { return nil }
        let command = bytes.byte(at: 12)
        guard command >> 4 == 2 else {
            throw ProxyProtocolError.malformed(.v2, "it says version \(command >> 4)")
        }
        guard command & 0xF < 2 else {
            throw ProxyProtocolError.malformed(.v2, "command \(command & 0xF) is unknown")
        }
        guard bytes.byteCount >= 16 else { return nil }
        let size = 16 + Int(bytes.byte(at: 14)) << 8 + Int(bytes.byte(at: 15))
        guard size <= limit else { throw ProxyProtocolError.tooLong(limit: limit) }
        return size
    }
}
