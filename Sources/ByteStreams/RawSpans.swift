public import FoundationEssentials
public import Futures

// What the language calls unsafe though it is not: bytes are copied, and UTF-8 is taken for bytes.

extension Data {
    /// A copy of `bytes`, to keep.
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
