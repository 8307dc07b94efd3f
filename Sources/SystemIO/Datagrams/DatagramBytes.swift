public import FoundationEssentials
public import Futures

// Operations that the language calls unsafe and that are safe here: UTF-8 is treated as bytes.

extension DatagramSocket {
    /// Sends a datagram with these bytes. Everything else is the same as in ``send(_:to:from:)-(RawSpan,_,_)``.
    @discardableResult
    public final func send(
        _ bytes: Data, to target: SocketAddress? = nil, from source: SocketAddress? = nil
    ) -> Future<Void> { send(bytes.bytes, to: target, from: source) }

    /// Sends a datagram with these bytes. Everything else is the same as in ``send(_:to:from:)-(RawSpan,_,_)``.
    @discardableResult
    public final func send(
        _ bytes: [UInt8], to target: SocketAddress? = nil, from source: SocketAddress? = nil
    ) -> Future<Void> { unsafe send(bytes.span.bytes, to: target, from: source) }

    /// Sends a datagram with `string` as UTF-8. Everything else is the same as in
    /// ``send(_:to:from:)-(RawSpan,_,_)``.
    @discardableResult
    public final func send(
        _ string: String, to target: SocketAddress? = nil, from source: SocketAddress? = nil
    ) -> Future<Void> { unsafe send(string.utf8Span.span.bytes, to: target, from: source) }
}
