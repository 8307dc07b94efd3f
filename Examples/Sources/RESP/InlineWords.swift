/// The words of a line. They may be in quotes: in double ones with escapes as in C, in single ones as they are.
struct InlineWords {
    private let line: [UInt8]
    private var index = 0
    private(set) var ranges: [Range<Int>] = []
    /// The words so far, once one of them is not as it stands in the line.
    private var texts: [[UInt8]]?

    init(_ line: [UInt8]) { self.line = line }

    /// The words as an array of the protocol, if the ranges do not say everything.
    var rewritten: [UInt8]? {
        texts.map { texts in
            var array: [UInt8] = []
            array.appendArray(count: texts.count)
            for text in texts { array.appendBulk(text.span.bytes) }
            return array
        }
    }

    /// Reads a word. Returns `false` if there are no more.
    mutating func readWord() throws -> Bool {
        while index < line.count, isSpace(line[index]) { index += 1 }
        guard index < line.count else { return false }
        let start = index
        if line[index] == UInt8(ascii: "\"") || line[index] == UInt8(ascii: "'") {
            let text = try readQuoted(line[index])
            if texts == nil { texts = ranges.map { Array(line[$0]) } }
            texts?.append(text)
        } else {
            while index < line.count, !isSpace(line[index]) { index += 1 }
            texts?.append(Array(line[start..<index]))
        }
        ranges.append(start..<index)
        return true
    }

    private mutating func readQuoted(_ quote: UInt8) throws -> [UInt8] {
        var text: [UInt8] = []
        index += 1
        while index < line.count {
            let byte = line[index]
            index += 1
            if byte == quote {
                guard index == line.count || isSpace(line[index]) else { break }
                return text
            }
            if byte == UInt8(ascii: "\\"), index < line.count {
                text.append(readEscape(quote))
            } else {
                text.append(byte)
            }
        }
        throw RESPError("unbalanced quotes in request")
    }

    /// Reads what stands behind a backslash.
    private mutating func readEscape(_ quote: UInt8) -> UInt8 {
        let byte = line[index]
        guard quote == UInt8(ascii: "\"") else {
            guard byte == quote else { return UInt8(ascii: "\\") }
            index += 1
            return byte
        }
        index += 1
        switch byte {
        case UInt8(ascii: "x"):
            guard index + 2 <= line.count, let value = hexadecimal(line[index..<index + 2]) else {
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

    private func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) || byte == 0 }
}
