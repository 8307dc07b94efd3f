/// Reads the lines of fields up to the empty one, and collects what they say about the frame of the message.
struct FieldScanner {
    private var lines = ReusedArray<FieldLine>()
    var scanner = LineScanner()
    private(set) var frame = FrameFields()

    /// Begins another message, and keeps the memory.
    mutating func begin() {
        lines.removeAll()
        scanner = LineScanner()
        frame = FrameFields()
    }

    /// Reads the lines that have come. Returns `true` once the empty line has been read.
    mutating func read(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPError) -> Bool {
        while true {
            if let (field, end) = usualField(bytes, limits) {
                try frame.note(bytes, field)
                lines.append(FieldLine(name: field.name, value: field.value))
                scanner.pass(to: end)
                continue
            }
            if isAtUsualEnd(bytes, limits) {
                scanner.pass(to: scanner.start + 2)
                return true
            }
            guard
                let line = try scanner.next(
                    bytes, limit: limits.lineBytes, tooLong: .lineTooLong, total: limits.headBytes)
            else { return false }
            if line.isEmpty { return true }
            guard lines.count < limits.fields else { throw .tooManyFields }
            let field = try Self.split(bytes, line)
            try frame.note(bytes, field)
            lines.append(FieldLine(name: field.name, value: field.value))
        }
    }

    /// Returns the field in the next line and where the line ends, if all of the line is there and right. Nearly all are: so
    /// their ends need not be looked for first.
    @inline(__always)
    private func usualField(_ bytes: Span<UInt8>, _ limits: HTTPLimits) -> (FieldPlace, end: Int)? {
        let start = scanner.start
        guard scanner.isAtStart, start < bytes.count, lines.count < limits.fields,
            bytes[start] != UInt8(ascii: "\r")
        else { return nil }
        let colon = bytes.firstIndexOutsideToken(from: start, to: bytes.count)
        guard colon > start, colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let end = bytes.firstIndexOutsideValue(from: colon + 1, to: bytes.count)
        guard end + 1 < bytes.count, bytes[end] == UInt8(ascii: "\r"), bytes[end + 1] == UInt8(ascii: "\n"),
            end - start <= limits.lineBytes, end + 1 < limits.headBytes
        else { return nil }
        return (Self.field(bytes, start, colon, end), end + 2)
    }

    /// Whether the next line is the empty one, and all of it is there.
    @inline(__always)
    private func isAtUsualEnd(_ bytes: Span<UInt8>, _ limits: HTTPLimits) -> Bool {
        let start = scanner.start
        return scanner.isAtStart && start + 1 < min(bytes.count, limits.headBytes)
            && bytes[start] == UInt8(ascii: "\r") && bytes[start + 1] == UInt8(ascii: "\n")
    }

    /// Passes on the fields that were read, as the first `end` of `bytes` have them, for those of an earlier message.
    mutating func move(to fields: inout Fields, _ bytes: RawSpan, _ end: Int) {
        fields.text.removeAll()
        fields.text.append(copying: bytes.extracting(first: end))
        swap(&fields.lines, &lines)
    }

    /// Splits a line at its colon, and checks both sides.
    @inline(__always)
    private static func split(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPError) -> FieldPlace {
        if isSpaceOrTab(bytes[line.lowerBound]) { throw .foldedLine }
        let colon = bytes.firstIndexOutsideToken(from: line.lowerBound, to: line.upperBound)
        guard colon < line.upperBound else { throw .missingColon }
        guard bytes[colon] == UInt8(ascii: ":") else {
            throw isSpaceOrTab(bytes[colon]) ? .spaceBeforeColon : .badFieldName
        }
        guard colon > line.lowerBound else { throw .badFieldName }
        let end = line.upperBound
        guard bytes.firstIndexOutsideValue(from: colon + 1, to: end) == end else { throw .badFieldValue }
        return field(bytes, line.lowerBound, colon, end)
    }

    /// Returns the field whose line is from `start` to `end`, without the spaces around the value.
    @inline(__always)
    private static func field(_ bytes: Span<UInt8>, _ start: Int, _ colon: Int, _ end: Int) -> FieldPlace {
        var (valueStart, valueEnd) = (colon + 1, end)
        while valueStart < valueEnd, isSpaceOrTab(bytes[valueStart]) { valueStart += 1 }
        while valueEnd > valueStart, isSpaceOrTab(bytes[valueEnd - 1]) { valueEnd -= 1 }
        return (name: start..<colon, value: valueStart..<valueEnd)
    }
}
