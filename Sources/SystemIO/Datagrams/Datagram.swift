public import FoundationEssentials

/// A received datagram: its bytes, and where it came from.
public struct Datagram: Hashable, Sendable {
    /// The bytes of the datagram. A datagram may be empty.
    public var bytes: Data
    /// Everything known about the datagram besides its bytes, such as its source.
    public var header: DatagramHeader

    public init(_ bytes: Data, _ header: DatagramHeader = DatagramHeader()) {
        self.bytes = bytes
        self.header = header
    }

    /// The address from which the datagram came, or `nil` if that is a UNIX socket without a name.
    public var source: SocketAddress? { header.source }
    /// Whether the datagram was longer than ``DatagramLimits/maxSize``, and has lost its end.
    public var isTruncated: Bool { header.isTruncated }
}
