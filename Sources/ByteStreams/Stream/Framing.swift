internal import FoundationEssentials

/// The rule that says where a message ends.
protocol Framing {
    /// Takes the message out of `buffer` and returns it. Returns `.some(nil)` if the peer has finished sending and no
    /// message is left. If more bytes are needed, takes nothing and returns `nil`. Called again when bytes have been
    /// appended, and when the peer has finished sending.
    mutating func take(from buffer: InboundBuffer) throws -> Data??
    /// Returns the message if `bytes` are one whole message and nothing else, as the data that `data` returns. Otherwise
    /// returns `nil`. Called while the buffer is empty.
    func message(ofWhole bytes: RawSpan, orAs data: () -> Data) -> Data??
}

extension Framing {
    func message(ofWhole bytes: RawSpan, orAs data: () -> Data) -> Data?? { nil }
}

struct ExactBytes: Framing {
    let count: Int

    func take(from buffer: InboundBuffer) throws -> Data?? {
        guard buffer.count < count else { return buffer.take(count) }
        return try buffer.endOfMessages()
    }

    func message(ofWhole bytes: RawSpan, orAs data: () -> Data) -> Data?? {
        guard bytes.byteCount == count else { return nil }
        return data()
    }
}

struct DelimitedBytes: Framing {
    var search: DelimiterSearch
    let limit: Int

    mutating func take(from buffer: InboundBuffer) throws -> Data?? {
        let end = search.position(in: buffer)
        guard end ?? search.passed <= limit else { throw StreamError.limitExceeded(limit: limit) }
        guard let end else { return try buffer.endOfMessages() }
        defer { buffer.discard(search.delimiterCount) }
        return buffer.take(end)
    }

    func message(ofWhole bytes: RawSpan, orAs data: () -> Data) -> Data?? {
        let size = bytes.byteCount - search.delimiterCount
        guard size >= 0, size <= limit, search.isOnlyAtEnd(of: bytes) else { return nil }
        return data()[0..<size]
    }
}

struct Line: Framing {
    let limit: Int
    let longLines: LongLines
    /// The number of bytes that have been searched and contain no line feed.
    private var scanned = 0

    init(limit: Int, longLines: LongLines = .fail) { (self.limit, self.longLines) = (limit, longLines) }

    func message(ofWhole bytes: RawSpan, orAs data: () -> Data) -> Data?? {
        let lineFeed = bytes.byteCount - 1
        guard bytes.position(of: UInt8(ascii: "\n")) == lineFeed else { return nil }
        let endsInReturn = lineFeed > 0 && bytes.byte(at: lineFeed - 1) == Self.carriageReturn
        let size = endsInReturn ? lineFeed - 1 : lineFeed
        guard size <= limit else { return nil }
        return data()[0..<size]
    }

    private static let carriageReturn = UInt8(ascii: "\r")

    mutating func take(from buffer: InboundBuffer) throws -> Data?? {
        while true {
            if let start = buffer.longLine {
                guard buffer.dropRestOfLine() else { return nil }
                scanned = 0
                if longLines == .cut { return start }
            }
            let lineFeed = buffer.position(of: UInt8(ascii: "\n"), from: scanned)
            let size = lineFeed ?? buffer.count
            scanned = size
            // A carriage return belongs to the line, unless a line feed follows. The line feed may not have come
            // yet.
            let endsInReturn = size > 0 && buffer[size - 1] == Self.carriageReturn
            let mayBeStripped = endsInReturn && (lineFeed != nil || !buffer.isAtEnd)
            guard size - (mayBeStripped ? 1 : 0) <= limit else {
                guard longLines != .fail else { throw StreamError.limitExceeded(limit: limit) }
                buffer.longLine = buffer.take(longLines == .cut ? limit : 0)
                continue
            }
            if lineFeed != nil {
                let line = buffer.take(size)
                buffer.discard(1)
                return endsInReturn ? line.dropLast() : line
            }
            guard buffer.isAtEnd else { return nil }
            return .some(buffer.isEmpty ? nil : buffer.takeAll())
        }
    }
}

extension InboundBuffer {
    /// Returns `.some(nil)` if the peer has finished sending and no bytes are left. Returns `nil` if more
    /// bytes may come. Throws ``StreamError/unexpectedEnd(received:)`` if the peer has finished sending in
    /// the middle of a message.
    fileprivate func endOfMessages() throws -> Data?? {
        guard isAtEnd else { return nil }
        guard isEmpty else { throw StreamError.unexpectedEnd(received: takeAll()) }
        return .some(nil)
    }
}

struct EverythingLeft: Framing {
    let limit: Int

    func take(from buffer: InboundBuffer) throws -> Data?? {
        guard buffer.count <= limit else { throw StreamError.limitExceeded(limit: limit) }
        guard buffer.isAtEnd else { return nil }
        return buffer.takeAll()
    }
}
