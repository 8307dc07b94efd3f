/// Writes messages of HTTP/1.1 into memory, one behind another.
///
/// ```swift
/// writer.begin(status: 200)
/// writer.field("Content-Type", "text/plain")
/// writer.endHead(bodyBytes: 6)
/// writer.raw("hello\n")
/// connection.write(writer.bytes)
/// ```
public struct MessageWriter: Sendable {
    private var text = ReusedArray<UInt8>()

    public init() {}

    /// What was written.
    public var bytes: RawSpan {
        @_lifetime(borrow self) get { unsafe text.span.bytes }
    }

    /// Removes everything, and keeps the memory.
    public mutating func removeAll() { text.removeAll() }

    // MARK: Heads

    /// Begins a response.
    public mutating func begin(status: Int) {
        // Most are that.
        guard status != 200 else { return text.append("HTTP/1.1 200 OK\r\n") }
        text.append("HTTP/1.1 ")
        text.append(decimal: status)
        text.append(" ")
        text.append(reasonPhrase(of: status))
        text.append("\r\n")
    }

    /// Adds a field. Traps if the value has a byte that would break the message: check what comes from outside.
    public mutating func field(_ name: StaticString, _ value: String) {
        precondition(
            value.utf8.allSatisfy(ByteSet.value.contains),
            "The value of the field \(name) has a control character. Remove CR, LF and NUL before.")
        text.append(name)
        text.append(": ")
        text.append(utf8: value)
        text.append("\r\n")
    }

    /// Adds lines of fields that are complete already, each with its end.
    public mutating func lines(_ lines: [UInt8]) { unsafe text.append(copying: lines.span.bytes) }

    /// Adds lines of fields that are complete already, each with its end.
    public mutating func lines(_ lines: StaticString) { text.append(lines) }

    // MARK: Bodies

    /// Ends the head of a message that says how its body ends, or that has none.
    public mutating func endHead() { text.append("\r\n") }

    /// Ends the head of a message whose body has `bodyBytes` bytes.
    public mutating func endHead(bodyBytes: Int) {
        text.append("Content-Length: ")
        text.append(decimal: bodyBytes)
        text.append("\r\n\r\n")
    }

    /// Ends the head of a message with a chunked body.
    public mutating func endHeadChunked() {
        text.append("Transfer-Encoding: chunked\r\n")
        endHead()
    }

    /// Writes the next chunk of a body. Writes nothing if it is empty: an empty chunk would end the body.
    public mutating func chunk(_ chunk: RawSpan) {
        guard chunk.byteCount > 0 else { return }
        append(hexadecimal: chunk.byteCount)
        text.append("\r\n")
        text.append(copying: chunk)
        text.append("\r\n")
    }

    /// Ends a chunked body.
    public mutating func endChunks(trailers: Fields = Fields()) {
        text.append("0\r\n")
        for index in 0..<trailers.count {
            let (name, value) = trailers[index]
            text.append(utf8: "\(name): \(value)\r\n")
        }
        text.append("\r\n")
    }

    /// Adds bytes as they are.
    public mutating func raw(_ raw: RawSpan) { text.append(copying: raw) }

    /// Adds ASCII text as it is.
    public mutating func raw(_ text: StaticString) { self.text.append(text) }

    private mutating func append(hexadecimal number: Int) {
        var shift = (63 - number.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
            text.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            shift -= 4
        }
    }
}
