public import FoundationEssentials
internal import Futures

/// A decoder of messages behind a length prefix, which gives the number of bytes that follow it.
///
/// A message is the `Data` behind the prefix, which may be empty. The frame is the range of these bytes.
///
/// ```swift
/// let decoder = LengthPrefixDecoder(.uint32, limit: 1_048_576)
/// let served = connection.forEachMessage(decodedBy: decoder) { range, bytes in
///     peer.write(bytes.extracting(range))
/// }
/// ```
public struct LengthPrefixDecoder: StreamDecoder, Hashable, Sendable {
    /// The type of the prefix, an unsigned integer.
    public enum Prefix: Int, Sendable, CaseIterable {
        case uint8 = 1
        case uint16 = 2
        case uint32 = 4
        case uint64 = 8
    }

    /// The order of the bytes of the prefix.
    public enum ByteOrder: Sendable, CaseIterable {
        /// The most significant byte comes first, as in most Internet protocols.
        case bigEndian
        case littleEndian
    }

    public let prefix: Prefix
    public let byteOrder: ByteOrder
    /// The most bytes that a message may have, without its prefix.
    public let limit: Int

    /// Creates a decoder of messages with at most `limit` bytes. If a prefix announces more, the read fails with
    /// ``StreamError/limitExceeded(limit:)`` without waiting for the message. Traps if `limit` is negative.
    public init(_ prefix: Prefix, byteOrder: ByteOrder = .bigEndian, limit: Int = 65_536) {
        guard limit >= 0 else {
            trap("LengthPrefixDecoder was given a limit of \(limit). Give zero or more.")
        }
        self.prefix = prefix
        self.byteOrder = byteOrder
        self.limit = limit
    }

    public var maximumSize: Int {
        let (size, overflows) = limit.addingReportingOverflow(prefix.rawValue)
        return overflows ? .max : size
    }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Range<Int>>? {
        let start = prefix.rawValue
        guard bytes.byteCount >= start else { return nil }
        let length = length(in: bytes)
        guard length <= UInt64(limit) else { throw StreamError.limitExceeded(limit: limit) }
        let (end, overflows) = start.addingReportingOverflow(Int(length))
        guard !overflows, end <= bytes.byteCount else { return nil }
        return DecodedFrame(start..<end, byteCount: end)
    }

    private func length(in bytes: RawSpan) -> UInt64 {
        var length: UInt64 = 0
        for index in 0..<prefix.rawValue {
            let byte = UInt64(bytes.byte(at: index))
            length |= byte << UInt64(8 * (byteOrder == .bigEndian ? prefix.rawValue - 1 - index : index))
        }
        return length
    }

    public func message(from frame: Range<Int>, _ bytes: RawSpan) -> Data {
        Data(copying: bytes.extracting(frame))
    }
}
