/// The words of a line. They may be in quotes: in double ones with escapes as in C, in single ones as they are.
struct InlineWords {
    private var index = 0
    /// The words one behind another, without spaces and quotes, and where each of them is there.
    private(set) var text: [UInt8] = []
    private(set) var ranges: [Range<Int>] = []

    init(_ line: RawSpan) throws {
        text.reserveCapacity(line.byteCount)
        while try readWord(line) {}
    }

    /// Reads a word. Returns `false` if there are no more.
    private mutating func readWord(_ line: RawSpan) throws -> Bool {
        while index < line.byteCount, isSpace(line.byte(index)) { index += 1 }
        guard index < line.byteCount else { return false }
        let start = text.count
        if line.byte(index) == UInt8(ascii: "\"") || line.byte(index) == UInt8(ascii: "'") {
            try readQuoted(line, line.byte(index))
        } else {
            let first = index
            while index < line.byteCount, !isSpace(line.byte(index)) { index += 1 }
            text.appendBytes(line.extracting(first..<index))
        }
        ranges.append(start..<text.count)
        return true
    }

    private mutating func readQuoted(_ line: RawSpan, _ quote: UInt8) throws {
        index += 1
        while index < line.byteCount {
            let byte = line.byte(index)
            index += 1
            if byte == quote {
                guard index == line.byteCount || isSpace(line.byte(index)) else { break }
                return
            }
            text.append(byte == UInt8(ascii: "\\") && index < line.byteCount ? readEscape(line, quote) : byte)
        }
        throw RESPError("unbalanced quotes in request")
    }

    /// Reads what stands behind a backslash.
    private mutating func readEscape(_ line: RawSpan, _ quote: UInt8) -> UInt8 {
        let byte = line.byte(index)
        guard quote == UInt8(ascii: "\"") else {
            guard byte == quote else { return UInt8(ascii: "\\") }
            index += 1
            return byte
        }
        index += 1
        switch byte {
        case UInt8(ascii: "x"):
            guard index + 2 <= line.byteCount, let value = hexadecimal(line.array(index..<index + 2)) else {
                return byte
            }
            index += 2
            return value
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "a"): return 7
        default: return byte
        }
    }

    private func hexadecimal(_ digits: [UInt8]) -> UInt8? {
        guard digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) || byte == 0 }
}
