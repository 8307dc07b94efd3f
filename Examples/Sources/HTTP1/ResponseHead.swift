/// The first line and the fields of a response.
public struct ResponseHead: Sendable {
    public internal(set) var status = 0
    public internal(set) var version = HTTPVersion.http11
    public internal(set) var fields = Fields()
    /// Where the body ends.
    public internal(set) var body = BodyFrame.none
    /// Whether the server takes further requests on this connection.
    public internal(set) var keepsAlive = true
}

/// The first line of a response.
struct StatusLine {
    let version: HTTPVersion
    let status: Int

    init(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPError) {
        let (start, end) = (line.lowerBound, line.upperBound)
        guard line.count >= 8 else { throw .badVersion }
        version = try HTTPVersion(bytes, at: start)
        guard line.count >= 12, bytes[start + 8] == UInt8(ascii: " "),
            let hundreds = decimalValue(bytes[start + 9]), let tens = decimalValue(bytes[start + 10]),
            let ones = decimalValue(bytes[start + 11]), (1...5).contains(hundreds)
        else { throw .badStatus }
        status = hundreds * 100 + tens * 10 + ones
        guard end > start + 12 else { return }
        guard bytes[start + 12] == UInt8(ascii: " ") else { throw .badStatus }
        guard bytes.firstIndex(from: start + 13, to: end, notIn: .value) == end else { throw .badFieldValue }
    }
}
