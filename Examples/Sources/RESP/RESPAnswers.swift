/// The versions of the protocol. A client begins with the second one.
public enum RESPVersion: Int, Sendable {
    case second = 2
    case third
}

/// Answers of the protocol, which are written one behind the other into an array of bytes.
extension [UInt8] {
    /// Adds a line, such as `+OK`.
    public mutating func appendStatus(_ text: StaticString) {
        append(UInt8(ascii: "+"))
        appendText(text)
        appendEnd()
    }

    /// Adds an error. Its first word says which one it is, such as `ERR`.
    public mutating func appendError(_ text: String) {
        append(UInt8(ascii: "-"))
        append(contentsOf: text.utf8.map { $0 == 10 || $0 == 13 ? 32 : $0 })
        appendEnd()
    }

    public mutating func appendInteger(_ number: Int) {
        append(UInt8(ascii: ":"))
        appendNumber(number)
        appendEnd()
    }

    /// Adds a string of any bytes.
    public mutating func appendBulk(_ bytes: RawSpan) {
        append(UInt8(ascii: "$"))
        appendNumber(bytes.byteCount)
        appendEnd()
        appendBytes(bytes)
        appendEnd()
    }

    public mutating func appendBulk(_ text: String) { appendBulk(text.utf8Span.span.bytes) }

    /// Adds the answer that there is no string.
    public mutating func appendNull(_ version: RESPVersion = .second) {
        appendText(version == .second ? "$-1\r\n" : "_\r\n")
    }

    /// Adds the head of an array. Its elements follow.
    public mutating func appendArray(count: Int) { appendHead("*", count) }

    /// Adds a command: an array of its name and its arguments.
    public mutating func appendCommand(_ name: String, _ arguments: [UInt8]...) {
        appendArray(count: 1 + arguments.count)
        appendBulk(name)
        for argument in arguments { appendBulk(argument.span.bytes) }
    }

    /// Adds the head of `count` pairs of names and values, which follow. In the second version this is an array.
    public mutating func appendMap(count: Int, _ version: RESPVersion) {
        if version == .second { appendHead("*", 2 * count) } else { appendHead("%", count) }
    }

    /// Adds the head of a set. Its elements follow. In the second version this is an array.
    public mutating func appendSet(count: Int, _ version: RESPVersion) {
        appendHead(version == .second ? "*" : "~", count)
    }

    /// Adds the head of what no command has asked for. Its elements follow. In the second version this is an array.
    public mutating func appendPush(count: Int, _ version: RESPVersion) {
        appendHead(version == .second ? "*" : ">", count)
    }

    /// Adds a text for people to read.
    public mutating func appendText(_ text: String, _ version: RESPVersion) {
        if version == .second { return appendBulk(text) }
        appendHead("=", 4 + text.utf8.count)
        appendText("txt:")
        append(contentsOf: text.utf8)
        appendEnd()
    }

    private mutating func appendHead(_ mark: Unicode.Scalar, _ count: Int) {
        append(UInt8(ascii: mark))
        appendNumber(count)
        appendEnd()
    }

    public mutating func appendBytes(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Adds the digits of `number`.
    public mutating func appendNumber(_ number: Int) {
        if (0..<10).contains(number) { return append(UInt8(ascii: "0") + UInt8(number)) }
        if number < 0 { append(UInt8(ascii: "-")) }
        var magnitude = number.magnitude
        let start = count
        while magnitude > 0 {
            let (quotient, digit) = magnitude.quotientAndRemainder(dividingBy: 10)
            append(UInt8(ascii: "0") + UInt8(digit))
            magnitude = quotient
        }
        self[start...].reverse()
    }

    private mutating func appendText(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    private mutating func appendEnd() {
        append(13)
        append(10)
    }
}
