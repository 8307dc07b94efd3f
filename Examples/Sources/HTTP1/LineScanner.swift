/// Finds the ends of lines in bytes that come in pieces, and does not look twice where it has found none.
struct LineScanner {
    /// Where the line begins that has not ended yet.
    private(set) var start = 0
    /// Where no LF has been found yet.
    private var scanned = 0

    /// Whether nothing of the line has been looked at.
    var isAtStart: Bool { scanned == start }

    /// Goes on behind a line that ends before `end`.
    mutating func pass(to end: Int) {
        start = end
        scanned = end
    }

    /// Returns the next line without its end, or `nil` if its end has not come. Throws `tooLong` if the line has more than
    /// `limit` bytes, ``HTTPError/headTooLong`` if the line would end behind `total`, and ``HTTPError/bareLineFeed`` if the line
    /// does not end in CR LF.
    ///
    /// The limits come first: so the verdict is the same, however the bytes are cut.
    @inline(__always)
    mutating func next(
        _ bytes: Span<UInt8>, limit: Int, tooLong: HTTPError, total: Int = .max
    ) throws(HTTPError) -> Range<Int>? {
        let lineFeed = bytes.position(of: UInt8(ascii: "\n"), from: scanned, to: bytes.count)
        let end = lineFeed ?? bytes.count
        guard end - start <= limit + 1 else { throw tooLong }
        guard end < total else { throw .headTooLong }
        guard let lineFeed else {
            scanned = end
            return nil
        }
        guard lineFeed > start, bytes[lineFeed - 1] == UInt8(ascii: "\r") else { throw .bareLineFeed }
        defer { pass(to: lineFeed + 1) }
        return start..<lineFeed - 1
    }
}
