/// Reads the lines of fields up to the empty one, and collects what they say about the frame of the message.
struct FieldScanner {
    private(set) var lines: [FieldLine] = []
    var scanner = LineScanner()
    private(set) var frame = FrameFields()

    /// Begins another message, and keeps the memory.
    mutating func begin() {
        lines.removeAll(keepingCapacity: true)
        scanner = LineScanner()
        frame = FrameFields()
    }

    /// Reads the lines that have come. Returns `true` once the empty line has been read.
    mutating func read(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPError) -> Bool {
        while let line = try scanner.next(
            bytes, limit: limits.lineBytes, tooLong: .lineTooLong, total: limits.headBytes)
        {
            if line.isEmpty { return true }
            guard lines.count < limits.fields else { throw .tooManyFields }
            let field = try Self.split(bytes, line)
            try frame.note(bytes, field)
            lines.append(field)
        }
        return false
    }

    /// Passes on the fields that were read, as the first `end` of `bytes` have them, for those of an earlier message.
    mutating func move(to fields: inout Fields, _ bytes: RawSpan, _ end: Int) {
        fields.text.removeAll(keepingCapacity: true)
        fields.text.append(copying: bytes.extracting(first: end))
        swap(&fields.lines, &lines)
    }

    /// Splits a line at its colon, and checks both sides.
    @inline(__always)
    private static func split(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPError) -> FieldLine {
        if isSpaceOrTab(bytes[line.lowerBound]) { throw .foldedLine }
        let colon = bytes.firstIndex(from: line.lowerBound, to: line.upperBound, notIn: .token)
        guard colon < line.upperBound else { throw .missingColon }
        guard bytes[colon] == UInt8(ascii: ":") else {
            throw isSpaceOrTab(bytes[colon]) ? .spaceBeforeColon : .badFieldName
        }
        guard colon > line.lowerBound else { throw .badFieldName }
        var (start, end) = (colon + 1, line.upperBound)
        guard bytes.firstIndex(from: start, to: end, notIn: .value) == end else { throw .badFieldValue }
        while start < end, isSpaceOrTab(bytes[start]) { start += 1 }
        while end > start, isSpaceOrTab(bytes[end - 1]) { end -= 1 }
        return FieldLine(line.lowerBound, colon, start, end)
    }
}
