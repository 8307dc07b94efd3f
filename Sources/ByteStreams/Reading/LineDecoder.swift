public import FoundationEssentials
internal import Futures

/// A decoder of lines, as ``ByteStream/readLine(limit:)`` reads them: for a ``PipelinedClient``, and for
/// ``ByteStream/forEachMessage(decodedBy:_:)``, which does not copy the line.
///
/// A line ends with a line feed, or with a carriage return and a line feed, which do not belong to it. The last line
/// needs no end. The frame is the range of the line, and the message is its bytes.
///
/// ```swift
/// let client = try PipelinedClient(decodedBy: LineDecoder(), on: loop) {
///     TCPConnection.connect(host: "127.0.0.1", port: 7007, on: loop)
/// }
/// ```
public struct LineDecoder: StreamDecoder, Sendable {
    /// The most bytes that a line may have, without its end.
    public let limit: Int
    /// The number of bytes that have been searched and contain no line feed.
    private var scanned = 0

    /// Creates a decoder of lines with at most `limit` bytes. A longer line fails the read with
    /// ``StreamError/limitExceeded(limit:)`` as soon as it is over the limit. Traps if `limit` is negative.
    public init(limit: Int = 65_536) {
        guard limit >= 0 else { trap("LineDecoder was given a limit of \(limit). Give zero or more.") }
        self.limit = limit
    }

    public var maximumSize: Int { limit.addingReportingOverflow(2).overflow ? .max : limit + 2 }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Range<Int>>? {
        let lineFeed = bytes.extracting(droppingFirst: scanned).position(of: UInt8(ascii: "\n")).map {
            scanned + $0
        }
        let size = lineFeed ?? bytes.byteCount
        // As long as no line feed has come, one may still follow the carriage return.
        let endsInReturn = size > 0 && bytes.byte(at: size - 1) == UInt8(ascii: "\r")
        let count = endsInReturn && (lineFeed != nil || !isAtEnd) ? size - 1 : size
        guard count <= limit else { throw StreamError.limitExceeded(limit: limit) }
        scanned = size
        guard lineFeed != nil || isAtEnd else { return nil }
        scanned = 0
        return DecodedFrame(0..<count, byteCount: lineFeed.map { $0 + 1 } ?? size)
    }

    public func message(from frame: Range<Int>, _ bytes: RawSpan) -> Data {
        Data(copying: bytes.extracting(frame))
    }
}
