/// Writes messages of HTTP/1.1 into memory, one behind another.
///
/// ```swift
/// writer.begin(status: 200)
/// writer.field("Content-Type", "text/plain")
/// writer.end(body: "hello\n".utf8Span.span.bytes)
/// connection.write(writer.take())
/// ```
public struct MessageWriter: Sendable {
    /// What was written.
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Removes everything, and keeps the memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    // MARK: Heads

    /// Begins a response.
    public mutating func begin(status: Int) {
        // Most are that.
        guard status != 200 else { return bytes.append("HTTP/1.1 200 OK\r\n") }
        bytes.append("HTTP/1.1 ")
        bytes.append(decimal: status)
        bytes.append(" ")
        bytes.append(reasonPhrase(of: status))
        bytes.append("\r\n")
    }

    /// Begins a request. Traps if the target has a byte that no target may have.
    public mutating func begin(_ method: HTTPMethod, _ target: String, host: String) {
        precondition(
            !target.isEmpty && target.utf8.allSatisfy { ByteSet.target.contains($0) },
            "\"\(target)\" is no target of a request. Escape what is not printable ASCII, and the number sign."
        )
        bytes.append(contentsOf: method.description.utf8)
        bytes.append(" ")
        bytes.append(contentsOf: target.utf8)
        bytes.append(" HTTP/1.1\r\n")
        field("Host", host)
    }

    /// Adds a field. Traps if the value has a byte that would break the message: check what comes from outside.
    public mutating func field(_ name: StaticString, _ value: String) {
        precondition(
            value.utf8.allSatisfy(ByteSet.value.contains),
            "The value of the field \(name) has a control character. Remove CR, LF and NUL before.")
        bytes.append(name)
        bytes.append(": ")
        bytes.append(contentsOf: value.utf8)
        bytes.append("\r\n")
    }

    public mutating func field(_ name: StaticString, _ value: Int) {
        bytes.append(name)
        bytes.append(": ")
        bytes.append(decimal: value)
        bytes.append("\r\n")
    }

    /// Adds lines of fields that are complete already, each with its end.
    public mutating func lines(_ lines: [UInt8]) { bytes.append(contentsOf: lines) }

    /// Adds lines of fields that are complete already, each with its end.
    public mutating func lines(_ lines: StaticString) { bytes.append(lines) }

    // MARK: Bodies

    /// Ends the head of a message that says how its body ends, or that has none.
    public mutating func endHead() { bytes.append("\r\n") }

    /// Ends the head, and writes the body as a whole.
    public mutating func end(body: RawSpan) {
        field("Content-Length", body.byteCount)
        endHead()
        bytes.append(copying: body)
    }

    /// Ends the head of a message with a chunked body.
    public mutating func endHeadChunked() {
        bytes.append("Transfer-Encoding: chunked\r\n")
        endHead()
    }

    /// Writes the next chunk of a body. Writes nothing if it is empty: an empty chunk would end the body.
    public mutating func chunk(_ chunk: RawSpan) {
        guard chunk.byteCount > 0 else { return }
        append(hexadecimal: chunk.byteCount)
        bytes.append("\r\n")
        bytes.append(copying: chunk)
        bytes.append("\r\n")
    }

    /// Ends a chunked body.
    public mutating func endChunks(trailers: Fields = Fields()) {
        bytes.append("0\r\n")
        for index in 0..<trailers.count {
            let (name, value) = trailers[index]
            bytes.append(contentsOf: "\(name): \(value)\r\n".utf8)
        }
        bytes.append("\r\n")
    }

    /// Adds bytes as they are.
    public mutating func raw(_ raw: RawSpan) { bytes.append(copying: raw) }

    private mutating func append(hexadecimal number: Int) {
        var shift = (63 - number.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
            bytes.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            shift -= 4
        }
    }
}
