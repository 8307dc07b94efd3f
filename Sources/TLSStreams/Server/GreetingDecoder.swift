internal import ByteStreams
internal import FoundationEssentials

/// Finds the end of a greeting (the client's ClientHello), which may extend over several records.
///
/// If the bytes are something else, the decoder ends them as soon as OpenSSL can tell what they are, so that no
/// handshake waits for the rest. OpenSSL skips warning alerts and keeps waiting for the greeting, so the decoder skips
/// them, too.
struct GreetingDecoder: StreamDecoder {
    private static let headerSize = 5
    private static let (alert, handshake): (UInt8, UInt8) = (21, 22)
    private static let (warning, closeNotify): (UInt8, UInt8) = (1, 0)
    private static let clientHello: UInt8 = 1
    /// The maximum size of a record, including the overhead of encryption.
    private static let largestRecord = 16_384 + 2048

    /// The number of bytes in the complete records.
    private var passed = 0
    /// The first bytes of the handshake message in these records: its type, and three bytes of its size.
    private var start: [UInt8] = []
    /// The number of bytes of the handshake message so far, including `start`.
    private var size = 0

    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Int>? {
        let end = end(in: bytes) ?? (isAtEnd ? bytes.byteCount : nil)
        return end.map { DecodedFrame($0, byteCount: $0) }
    }

    func message(from frame: Int, _ bytes: RawSpan) -> Data { Data(copying: bytes) }

    private mutating func end(in bytes: RawSpan) -> Int? {
        while bytes.byteCount >= passed + Self.headerSize {
            let header = (0..<Self.headerSize).map { bytes.byte(at: passed + $0) }
            // The SSL 2.0 format of a greeting, which TLS 1.2 still allows.
            if passed == 0, header[0] & 0x80 != 0, header[2] == Self.clientHello {
                let end = 2 + (Int(header[0] & 0x7f) << 8 | Int(header[1]))
                return end <= bytes.byteCount ? end : nil
            }
            let record = Int(header[3]) << 8 | Int(header[4])
            guard header[1] == 3, record <= Self.largestRecord else { return bytes.byteCount }
            let end = passed + Self.headerSize + record
            guard end <= bytes.byteCount else { return nil }
            let body = passed + Self.headerSize..<end
            if header[0] == Self.alert, record == 2, bytes.byte(at: body.lowerBound) == Self.warning,
                bytes.byte(at: body.lowerBound + 1) != Self.closeNotify
            {
                passed = end
                continue
            }
            guard header[0] == Self.handshake else { return end }
            start += body.prefix(4 - start.count).map { bytes.byte(at: $0) }
            size += record
            passed = end
            guard start.count == 4 else { continue }
            let message = 4 + (Int(start[1]) << 16 | Int(start[2]) << 8 | Int(start[3]))
            if start[0] != Self.clientHello || size >= message { return end }
        }
        return nil
    }
}
