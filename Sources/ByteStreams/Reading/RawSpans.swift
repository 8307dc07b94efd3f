public import FoundationEssentials
public import Futures

// What the language calls unsafe though it is not: bytes are copied, UTF-8 is taken for bytes, and futures of all types,
// which are one reference in memory, for each other.

extension Data {
    /// Creates data that holds a copy of `bytes`. The copy can be kept after the span is gone.
    public init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
}

extension ByteStream {
    /// Sends `string` in UTF-8, as ``write(_:)-(Data)`` does.
    @discardableResult
    public func write(_ string: String) -> Future<Void> { unsafe write(string.utf8Span.span.bytes) }

    /// Sends `bytes`, as ``write(_:)-(Data)`` does.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Future<Void> { unsafe write(bytes.span.bytes) }
}

/// The closure that is called with chunks. The stream waits for its future, whatever the future's type.
struct ChunkBody<Ignored> {
    let call: (Data) throws -> Future<Ignored>

    var untyped: ChunkBody<Void> {
        assert(MemoryLayout<Future<Ignored>>.size == MemoryLayout<AnyObject>.size)
        return unsafe unsafeBitCast(self, to: ChunkBody<Void>.self)
    }
}

/// Like ``ChunkBody``, but called with spans.
struct SpanBody<Ignored> {
    let call: (RawSpan) throws -> Future<Ignored>

    var untyped: SpanBody<Void> {
        assert(MemoryLayout<Future<Ignored>>.size == MemoryLayout<AnyObject>.size)
        return unsafe unsafeBitCast(self, to: SpanBody<Void>.self)
    }
}
