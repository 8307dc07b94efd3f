/// What the fields of a head say about where the body ends, and about the connection. What is doubtful is refused: two
/// programs that understand it in two ways would let requests be smuggled.
struct FrameFields {
    private(set) var contentLength: Int?
    private(set) var isChunked = false
    private(set) var hasHost = false
    private(set) var wantsClose = false
    private(set) var wantsKeepAlive = false
    private(set) var wantsUpgrade = false
    private(set) var expectsContinue = false
    /// Whether a field came that no trailer may be.
    private(set) var isForbiddenInTrailers = false

    @inline(__always)
    mutating func note(_ bytes: Span<UInt8>, _ field: FieldPlace) throws(HTTPError) {
        switch field.name.count {
        case 4: if isNamed(bytes, field, "host") { try noteHost(bytes, field.value) }
        case 6: if isNamed(bytes, field, "expect") { try noteExpectation(bytes, field.value) }
        case 10: if isNamed(bytes, field, "connection") { noteConnection(bytes, field.value) }
        case 14: if isNamed(bytes, field, "content-length") { try noteLength(bytes, field.value) }
        case 17: if isNamed(bytes, field, "transfer-encoding") { try noteCoding(bytes, field.value) }
        default: break
        }
    }

    @inline(__always)
    private func isNamed(_ bytes: Span<UInt8>, _ field: FieldPlace, _ name: StaticString) -> Bool {
        bytes.matches(field.name.lowerBound, field.name.upperBound, name)
    }

    private mutating func noteHost(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPError) {
        isForbiddenInTrailers = true
        guard !hasHost else { throw .repeatedHost }
        hasHost = true
        let end = value.upperBound
        guard bytes.firstIndex(from: value.lowerBound, to: end, notIn: .host) == end else { throw .badHost }
    }

    private mutating func noteExpectation(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPError) {
        guard bytes.matches(value.lowerBound, value.upperBound, "100-continue") else {
            throw .unknownExpectation
        }
        expectsContinue = true
    }

    private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        bytes.forEachElement(value) { start, end in
            if bytes.matches(start, end, "close") { wantsClose = true }
            if bytes.matches(start, end, "keep-alive") { wantsKeepAlive = true }
            if bytes.matches(start, end, "upgrade") { wantsUpgrade = true }
        }
    }

    private mutating func noteLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPError) {
        isForbiddenInTrailers = true
        guard contentLength == nil else { throw .repeatedContentLength }
        // 18 digits always fit.
        guard (1...18).contains(value.count) else { throw .badContentLength }
        var length = 0
        for index in value {
            guard let digit = decimalValue(bytes[index]) else { throw .badContentLength }
            length = length * 10 + digit
        }
        contentLength = length
    }

    private mutating func noteCoding(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPError) {
        isForbiddenInTrailers = true
        guard !isChunked else { throw .repeatedTransferEncoding }
        var (count, chunkedCount, lastIsChunked) = (0, 0, false)
        bytes.forEachElement(value) { start, end in
            count += 1
            lastIsChunked = bytes.matches(start, end, "chunked")
            if lastIsChunked { chunkedCount += 1 }
        }
        guard lastIsChunked, chunkedCount == 1 else { throw .badTransferEncoding }
        guard count == 1 else { throw .unknownTransferEncoding }
        isChunked = true
    }
}

extension Span<UInt8> {
    /// Calls `body` with the ends of each element of the list in `range`: between commas, without spaces around it.
    func forEachElement(_ range: Range<Int>, _ body: (_ start: Int, _ end: Int) -> Void) {
        var start = range.lowerBound
        for index in range.lowerBound...range.upperBound
        where index == range.upperBound || self[index] == UInt8(ascii: ",") {
            var end = index
            while start < end, isSpaceOrTab(self[start]) { start += 1 }
            while end > start, isSpaceOrTab(self[end - 1]) { end -= 1 }
            body(start, end)
            start = index + 1
        }
    }
}

@inline(__always)
func decimalValue(_ byte: UInt8) -> Int? {
    let digit = byte &- UInt8(ascii: "0")
    return digit < 10 ? Int(digit) : nil
}
