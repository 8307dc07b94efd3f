public import FoundationEssentials
public import Futures
internal import Glibc

// Operations that the language calls unsafe and that are safe here. Bytes are copied. UTF-8 is treated as
// bytes. A future of one type is treated as a future of another type: in memory, each future is one
// reference.

extension Data {
    /// Creates data that holds a copy of `bytes`. You can keep the copy: it does not depend on the lifetime of
    /// the span.
    public init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
}

extension [UInt8] {
    /// Adds a copy of `bytes`.
    package mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Overwrites the bytes from `start` on with `bytes`, which must fit.
    mutating func overwrite(from start: Int, with bytes: RawSpan) {
        precondition(start + bytes.byteCount <= count)
        unsafe withUnsafeMutableBytes { memory in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                unsafe (memory.baseAddress! + start).copyMemory(from: source, byteCount: bytes.count)
            }
        }
    }
}

extension RawSpan {
    /// Returns the offset of the first `byte`, or `nil` if there is none.
    func position(of byte: UInt8) -> Int? {
        unsafe withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            guard let found = unsafe memchr(start, CInt(byte), bytes.count) else { return nil }
            return unsafe UnsafeRawPointer(found) - start
        }
    }

    package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

extension ByteStream {
    /// Sends `string` as UTF-8. Everything else is the same as in ``write(_:)-(Data)``.
    @discardableResult
    public func write(_ string: String) -> Future<Void> { unsafe write(string.utf8Span.span.bytes) }

    /// Sends `bytes`. Everything else is the same as in ``write(_:)-(Data)``.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Future<Void> { unsafe write(bytes.span.bytes) }
}

extension Future {
    /// The same future, as if it were a `Future<Void>`. Its value must not be read.
    @inlinable
    package var untyped: Future<Void> {
        assert(MemoryLayout<Future<Value>>.size == MemoryLayout<AnyObject>.size)
        return unsafe unsafeBitCast(self, to: Future<Void>.self)
    }
}

extension ByteTransport {
    func tryWrite(_ bytes: [UInt8], first count: Int) throws -> Int {
        unsafe try tryWrite(bytes.span.bytes.extracting(first: count))
    }
}

/// The closure that `forEachChunk` calls. The stream waits for the future that the closure returns, and
/// ignores its value.
struct ChunkBody<Ignored> {
    let call: (Data) throws -> Future<Ignored>

    /// The same closure, as if it returned a `Future<Void>`.
    var untyped: ChunkBody<Void> {
        assert(MemoryLayout<Future<Ignored>>.size == MemoryLayout<AnyObject>.size)
        return unsafe unsafeBitCast(self, to: ChunkBody<Void>.self)
    }
}

/// The closure that `forEachSpan` calls: see ``ChunkBody``.
struct SpanBody<Ignored> {
    let call: (RawSpan) throws -> Future<Ignored>

    var untyped: SpanBody<Void> {
        assert(MemoryLayout<Future<Ignored>>.size == MemoryLayout<AnyObject>.size)
        return unsafe unsafeBitCast(self, to: SpanBody<Void>.self)
    }
}
