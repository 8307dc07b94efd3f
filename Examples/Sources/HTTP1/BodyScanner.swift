/// How a receiver knows where the body of a message ends.
public enum BodyFrame: Hashable, Sendable {
    case none
    /// So many bytes, one or more.
    case length(Int)
    case chunked
    /// The body of a response that ends when the connection does.
    case untilClose
}

/// Reads a body, in the pieces in which it comes.
struct BodyScanner {
    private enum State {
        case bytes(left: Int)
        case chunkSize(LineScanner)
        case chunkBytes(left: Int)
        case chunkEnd
        case trailers
        case untilClose
    }

    enum Part {
        /// The next bytes of the body, as offsets.
        case bytes(Range<Int>)
        /// The last bytes of the body, perhaps none.
        case end(Range<Int>)
    }

    private var state: State
    /// The bytes in front that have been understood, and that the next part will cover.
    private var passed = 0
    private var total = 0
    private var extensionBytes = 0
    private(set) var trailers = Fields()
    private var fields = FieldScanner()

    init(_ frame: BodyFrame) {
        state =
            switch frame {
            case .none: preconditionFailure("A message without a body has nothing to be read.")
            case .length(let count): .bytes(left: count)
            case .chunked: .chunkSize(LineScanner())
            case .untilClose: .untilClose
            }
    }

    /// Returns the next part and how many bytes it covers, or `nil` if more bytes are needed: then the same ones are passed
    /// again, with more behind them.
    mutating func next(
        _ raw: RawSpan, _ limits: HTTPLimits
    ) throws(HTTPError) -> (part: Part, byteCount: Int)? {
        while true {
            let rest = raw.extracting(droppingFirst: passed)
            let bytes = rest.octets
            switch state {
            case .bytes(let left):
                guard let range = take(left, bytes.count) else { return nil }
                guard range.count < left else { return done(.end(range)) }
                state = .bytes(left: left - range.count)
                return done(.bytes(range))
            case .chunkSize(var scanner):
                guard let line = try scanner.next(bytes, limit: limits.lineBytes, tooLong: .badChunkSize)
                else {
                    state = .chunkSize(scanner)
                    return nil
                }
                let (size, extensionStart) = try chunkSize(bytes, line)
                extensionBytes += line.upperBound - extensionStart
                guard extensionBytes <= limits.chunkExtensionBytes else { throw .chunkExtensionsTooLong }
                guard size <= limits.bodyBytes - total else { throw .bodyTooLong }
                total += size
                passed += scanner.start
                state = size > 0 ? .chunkBytes(left: size) : .trailers
            case .chunkBytes(let left):
                guard let range = take(left, bytes.count) else { return nil }
                state = left == range.count ? .chunkEnd : .chunkBytes(left: left - range.count)
                return done(.bytes(range))
            case .chunkEnd:
                guard bytes.count > 0 else { return nil }
                guard bytes[0] == UInt8(ascii: "\r") else { throw .badChunkEnd }
                guard bytes.count > 1 else { return nil }
                guard bytes[1] == UInt8(ascii: "\n") else { throw .badChunkEnd }
                passed += 2
                state = .chunkSize(LineScanner())
            case .trailers:
                guard try fields.read(bytes, limits) else { return nil }
                guard !fields.frame.isForbiddenInTrailers else { throw .forbiddenTrailer }
                fields.move(to: &trailers, rest, fields.scanner.start)
                passed += fields.scanner.start
                return done(.end(passed..<passed))
            case .untilClose:
                guard let range = take(.max, bytes.count) else { return nil }
                total += range.count
                guard total <= limits.bodyBytes else { throw .bodyTooLong }
                return done(.bytes(range))
            }
        }
    }

    /// Whether the body is complete if nothing more comes.
    var endsAtClose: Bool { if case .untilClose = state { true } else { false } }

    /// Takes at most `left` bytes of what is there.
    private mutating func take(_ left: Int, _ available: Int) -> Range<Int>? {
        let count = min(left, available)
        guard count > 0 else { return nil }
        defer { passed += count }
        return passed..<passed + count
    }

    private mutating func done(_ part: Part) -> (Part, Int) {
        defer { passed = 0 }
        return (part, passed)
    }

    /// Returns the size that begins a line, and where the extensions behind it begin.
    private func chunkSize(
        _ bytes: Span<UInt8>, _ line: Range<Int>
    ) throws(HTTPError) -> (size: Int, end: Int) {
        var (size, end) = (0, line.lowerBound)
        while end < line.upperBound, let digit = hexadecimalValue(bytes[end]) {
            // 15 digits always fit.
            guard end - line.lowerBound < 15 else { throw .badChunkSize }
            size = size << 4 | digit
            end += 1
        }
        guard end > line.lowerBound, end == line.upperBound || bytes[end] == UInt8(ascii: ";") else {
            throw .badChunkSize
        }
        var extensions = ChunkExtensions(bytes, end, line.upperBound)
        try extensions.check()
        return (size, end)
    }
}

@inline(__always)
func hexadecimalValue(_ byte: UInt8) -> Int? {
    if let digit = decimalValue(byte) { return digit }
    let letter = (byte | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? Int(letter) + 10 : nil
}
