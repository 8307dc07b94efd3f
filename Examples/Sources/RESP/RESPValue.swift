public import ByteStreams

/// An answer of the protocol, as a client gets it.
public enum RESPValue: Hashable, Sendable {
    /// A line, such as `OK`.
    case status(String)
    /// A complaint. Its first word says which one it is, such as `ERR`.
    case error(String)
    case integer(Int)
    /// A string of any bytes.
    case bulk([UInt8])
    case array([RESPValue])
    /// The answer that there is no string, or no array.
    case null

    /// The text of a string or a line. `nil` for everything else, and for bytes that are no UTF-8.
    public var text: String? {
        switch self {
        case .status(let text): text
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        case .error, .integer, .array, .null: nil
        }
    }

    /// The elements of an array. `nil` for everything else.
    public var elements: [RESPValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}

/// Finds the answers of a server. Arrays may be in arrays.
///
/// It looks at each byte once, however the bytes come: it remembers the values that it has found.
public struct RESPValueDecoder: StreamDecoder {
    /// The most bytes of a line, and how deep arrays may be in each other.
    static let longestLine = 65_536
    static let deepest = 16

    public let maximumSize: Int
    /// The arrays that are not complete, the outermost first, and how many elements each of them lacks.
    private var open: [(elements: [RESPValue], missing: Int)] = []
    /// The number of bytes of the string that comes next, once its line is known.
    private var length: Int?
    private var position = 0
    private var scanned = 0

    public init(maximumSize: Int = 67_108_864) { self.maximumSize = maximumSize }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<RESPValue>? {
        while true {
            guard let step = try length == nil ? readLine(bytes) : readBulk(bytes) else { return nil }
            guard case .value(let value) = step, let whole = close(value) else { continue }
            let frame = DecodedFrame(whole, byteCount: position)
            (position, scanned) = (0, 0)
            return frame
        }
    }

    private enum Step {
        case value(RESPValue)
        /// The line that begins an array or a string.
        case beginning
    }

    /// Adds a value to the array that it belongs to. Returns the answer if that is complete.
    private mutating func close(_ value: RESPValue) -> RESPValue? {
        var value = value
        while !open.isEmpty {
            open[open.count - 1].elements.append(value)
            open[open.count - 1].missing -= 1
            guard open[open.count - 1].missing == 0 else { return nil }
            value = .array(open.removeLast().elements)
        }
        return value
    }

    /// Reads a line. Returns `nil` if it is not here yet.
    private mutating func readLine(_ bytes: RawSpan) throws -> Step? {
        let start = position
        guard let end = try endOfLine(bytes) else { return nil }
        guard end > start else { throw RESPError("an answer begins with an empty line") }
        switch bytes.byte(start) {
        case UInt8(ascii: "+"): return .value(.status(text(bytes, start + 1..<end)))
        case UInt8(ascii: "-"): return .value(.error(text(bytes, start + 1..<end)))
        case UInt8(ascii: ":"):
            guard let number = bytes.integer(in: start + 1..<end) else { throw RESPError("invalid integer") }
            return .value(.integer(number))
        case UInt8(ascii: "$"):
            guard let count = try count(bytes, start + 1..<end, "bulk") else { return .value(.null) }
            length = count
            return .beginning
        case UInt8(ascii: "*"):
            guard let count = try count(bytes, start + 1..<end, "multibulk") else { return .value(.null) }
            guard count > 0 else { return .value(.array([])) }
            guard open.count < Self.deepest else { throw RESPError("arrays are too deep in each other") }
            open.append(([], count))
            return .beginning
        case let byte: throw RESPError("an answer begins with '\(Character(UnicodeScalar(byte)))'")
        }
    }

    /// Returns the length that a line gives, or `nil` if it says that there is nothing.
    private func count(_ bytes: RawSpan, _ range: Range<Int>, _ what: String) throws -> Int? {
        guard let count = bytes.integer(in: range), count >= -1, count <= maximumSize else {
            throw RESPError("invalid \(what) length")
        }
        return count == -1 ? nil : count
    }

    private mutating func readBulk(_ bytes: RawSpan) throws -> Step? {
        guard let count = length, bytes.byteCount - position >= count + 2 else { return nil }
        let end = position + count
        guard bytes.byte(end) == 13, bytes.byte(end + 1) == 10 else {
            throw RESPError("expected the end of a line behind \(count) bytes")
        }
        let value = RESPValue.bulk(bytes.array(position..<end))
        position = end + 2
        (scanned, length) = (position, nil)
        return .value(value)
    }

    /// Returns the end of the line at `position`, and moves behind it. Returns `nil` if it is not here yet.
    private mutating func endOfLine(_ bytes: RawSpan) throws -> Int? {
        while scanned < bytes.byteCount {
            scanned += 1
            if bytes.byte(scanned - 1) == 10 {
                guard scanned - 2 >= position, bytes.byte(scanned - 2) == 13 else {
                    throw RESPError("a line does not end with CR LF")
                }
                position = scanned
                return scanned - 2
            }
            if scanned - position > Self.longestLine { throw RESPError("a line is too long") }
        }
        return nil
    }

    private func text(_ bytes: RawSpan, _ range: Range<Int>) -> String {
        String(decoding: bytes.array(range), as: UTF8.self)
    }
}
