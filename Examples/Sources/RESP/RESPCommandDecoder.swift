public import ByteStreams

/// Finds commands: arrays of bulk strings, and lines of words for a person at a terminal.
///
/// It looks at each byte twice at most, however the bytes come: it remembers the words that it has found.
public struct RESPCommandDecoder: StreamDecoder {
    /// The most bytes of a line, which is a command of its own or announces what follows.
    static let longestLine = 65_536
    /// The most words of a command.
    static let mostWords = 1_048_576
    /// The most words of a command that is read at once.
    private static let fewWords = 16

    /// The most bytes of one word.
    public let longestWord: Int
    public let maximumSize: Int

    private var words: [Range<Int>] = []
    /// Whether `words` are those of the last command. Removed with the next one, they leave their memory for it.
    private var isFinished = false
    /// The number of words that are still to come, once the first line is known.
    private var missing: Int?
    /// The number of bytes of the next word, once its line is known.
    private var length: Int?
    /// Where the next line or word begins, and how far it has been searched for the end of a line.
    private var position = 0
    private var scanned = 0

    /// Called with the bytes of memory that a command takes which is not complete yet.
    private let onIncomplete: (Int) throws -> Void

    public init(
        longestWord: Int = 536_870_912, maximumSize: Int = 1_073_741_824,
        onIncomplete: @escaping (_ memory: Int) throws -> Void = { _ in }
    ) {
        self.longestWord = longestWord
        self.maximumSize = maximumSize
        self.onIncomplete = onIncomplete
    }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<RESPCommand>? {
        if missing == nil, scanned == 0, let end = usualCommand(bytes) {
            return DecodedFrame(RESPCommand(words), byteCount: end)
        }
        if isFinished {
            words.removeAll(keepingCapacity: true)
            isFinished = false
        }
        if let frame = try lookCloser(bytes) { return frame }
        try onIncomplete(bytes.byteCount + words.capacity * MemoryLayout<Range<Int>>.stride)
        return nil
    }

    private mutating func lookCloser(_ bytes: RawSpan) throws -> DecodedFrame<RESPCommand>? {
        guard let missing = try missing ?? beginCommand(bytes) else { return try inlineCommand(bytes) }
        self.missing = missing
        while words.count < missing {
            guard try readWord(bytes) else { return nil }
        }
        return finish(RESPCommand(words))
    }

    /// Reads a command of few words that is all here, and is as clients write it. Nearly all are. Returns the number of its
    /// bytes, or `nil`: then it is looked at more closely.
    @inline(__always)
    private mutating func usualCommand(_ bytes: RawSpan) -> Int? {
        guard let (count, start) = usualLine("*", at: 0, of: bytes), (1...Self.fewWords).contains(count)
        else { return nil }
        if words.count != count {
            words.removeAll(keepingCapacity: true)
            words.append(contentsOf: repeatElement(0..<0, count: count))
        }
        isFinished = true
        var index = start
        for word in 0..<count {
            guard let (size, first) = usualLine("$", at: index, of: bytes), size <= longestWord,
                first + size + 1 < bytes.byteCount, bytes.byte(first + size) == 13,
                bytes.byte(first + size + 1) == 10
            else { return nil }
            words[word] = first..<first + size
            index = first + size + 2
        }
        return index
    }

    /// Returns the number in the line that begins with `mark`, and where the next line begins.
    @inline(__always)
    private func usualLine(_ mark: Unicode.Scalar, at start: Int, of bytes: RawSpan) -> (Int, next: Int)? {
        guard start < bytes.byteCount, bytes.byte(start) == UInt8(ascii: mark) else { return nil }
        // So many digits always fit.
        let most = min(bytes.byteCount, start + 11)
        var (number, index) = (0, start + 1)
        while index < most, case let digit = bytes.byte(index) &- UInt8(ascii: "0"), digit <= 9 {
            number = number &* 10 &+ Int(digit)
            index += 1
        }
        guard index > start + 1, index + 1 < bytes.byteCount, bytes.byte(index) == 13,
            bytes.byte(index + 1) == 10, bytes.byte(start + 1) != UInt8(ascii: "0") || index == start + 2
        else { return nil }
        return (number, index + 2)
    }

    /// Reads the line that announces an array, and returns the number of words. Returns `nil` if it is not here yet, or if
    /// the command is no array.
    private mutating func beginCommand(_ bytes: RawSpan) throws -> Int? {
        guard bytes.byte(0) == UInt8(ascii: "*"), let end = try endOfLine(bytes, "too big mbulk count string")
        else {
            return nil
        }
        guard let count = bytes.integer(in: 1..<end), count <= Self.mostWords else {
            throw RESPError("invalid multibulk length")
        }
        words.reserveCapacity(min(max(count, 0), 64))
        return max(count, 0)
    }

    /// Reads the next word, with the line before it. Returns `false` if it is not here yet.
    private mutating func readWord(_ bytes: RawSpan) throws -> Bool {
        let start = position
        if length == nil {
            guard start < bytes.byteCount else { return false }
            guard bytes.byte(start) == UInt8(ascii: "$") else {
                throw RESPError("expected '$', got '\(character(bytes.byte(start)))'")
            }
            guard let end = try endOfLine(bytes, "too big bulk count string") else { return false }
            guard let count = bytes.integer(in: start + 1..<end), count >= 0, count <= longestWord else {
                throw RESPError("invalid bulk length")
            }
            length = count
        }
        let (first, count) = (position, length!)
        guard bytes.byteCount - first >= count + 2 else { return false }
        guard bytes.byte(first + count) == 13, bytes.byte(first + count + 1) == 10 else {
            throw RESPError("expected the end of a line behind \(count) bytes")
        }
        words.append(first..<first + count)
        position = first + count + 2
        (scanned, length) = (position, nil)
        return true
    }

    /// Returns the end of the line at `position`, without its carriage return, and moves behind it. Returns `nil` if it is
    /// not here yet.
    private mutating func endOfLine(_ bytes: RawSpan, _ complaint: String) throws -> Int? {
        while scanned < bytes.byteCount {
            if bytes.byte(scanned) == 10 {
                let end = scanned > position && bytes.byte(scanned - 1) == 13 ? scanned - 1 : scanned
                scanned += 1
                position = scanned
                return end
            }
            scanned += 1
            if scanned - position > Self.longestLine { throw RESPError(complaint) }
        }
        return nil
    }

    private mutating func finish(_ command: RESPCommand) -> DecodedFrame<RESPCommand> {
        let frame = DecodedFrame(command, byteCount: position)
        isFinished = true
        // What was for many words is not kept until the next command.
        if words.count > 1024 { words = [] }
        (missing, length, position, scanned) = (nil, nil, 0, 0)
        return frame
    }

    /// Reads a line of words.
    private mutating func inlineCommand(_ bytes: RawSpan) throws -> DecodedFrame<RESPCommand>? {
        guard bytes.byte(0) != UInt8(ascii: "*"), let end = try endOfLine(bytes, "too big inline request")
        else {
            return nil
        }
        let words = try InlineWords(bytes.extracting(first: end))
        return finish(RESPCommand(words.ranges, line: words.text))
    }

    private func character(_ byte: UInt8) -> String { String(UnicodeScalar(byte)) }
}

extension RawSpan {
    func byte(_ index: Int) -> UInt8 { unsafeLoad(fromByteOffset: index, as: UInt8.self) }

    /// A copy of the bytes in `range`.
    public func array(_ range: Range<Int>) -> [UInt8] {
        extracting(range).withUnsafeBytes { [UInt8]($0) }
    }

    /// The number that the digits in `range` are, or `nil` if they are none.
    public func integer(in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        let isNegative = byte(range.lowerBound) == UInt8(ascii: "-")
        var index = isNegative ? range.lowerBound + 1 : range.lowerBound
        guard index < range.upperBound, range.count <= 20 else { return nil }
        // A number has one form alone, as in Redis: no plus sign, no leading zeros.
        if byte(index) == UInt8(ascii: "0"), range.count > 1 { return nil }
        var value = 0
        while index < range.upperBound {
            let digit = byte(index) &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            let (ten, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative
                ? ten.subtractingReportingOverflow(Int(digit)) : ten.addingReportingOverflow(Int(digit))
            guard !overflows, !overflowsToo else { return nil }
            (value, index) = (sum, index + 1)
        }
        return value
    }
}
