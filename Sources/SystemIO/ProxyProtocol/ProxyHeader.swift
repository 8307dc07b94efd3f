public import FoundationEssentials
internal import Futures

/// The header of the [PROXY protocol](https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt), with which a proxy
/// tells a server which client's connection it passes on.
public struct ProxyHeader: Hashable, Sendable {
    /// The two forms of a header: a line of text, and bytes.
    public enum Version: Int, Sendable, CaseIterable {
        case v1 = 1
        case v2 = 2
    }

    /// A typed value that the proxy adds to a header of version 2.
    public struct TLV: Hashable, Sendable {
        public var type: UInt8
        public var value: Data

        public init(type: UInt8, value: Data) {
            self.type = type
            self.value = value
        }
    }

    /// The address of the client. `nil` if the proxy speaks for itself, or does not know the client.
    public let source: SocketAddress?
    /// The address to which the client connected. `nil` whenever ``source`` is `nil`.
    public let destination: SocketAddress?
    /// Whether the proxy speaks for itself, for example in a health check.
    public let isLocal: Bool
    /// Whether the client sends datagrams. Then its addresses are not those of a connection, and servers ignore them.
    public let isDatagram: Bool
    /// The values that the proxy has added, in its order, without the checksum and the padding.
    public var tlvs: [TLV]

    init(
        _ source: SocketAddress?, _ destination: SocketAddress?, isLocal: Bool = false,
        isDatagram: Bool = false,
        _ tlvs: [TLV] = []
    ) {
        self.source = source
        self.destination = destination
        self.isLocal = isLocal
        self.isDatagram = isDatagram
        self.tlvs = tlvs
    }

    /// A header of a proxy that speaks for itself. The server then uses the addresses of the socket.
    public static let local = ProxyHeader(nil, nil, isLocal: true)

    /// A header of a proxy that does not know the addresses of the client, or may not tell them.
    public static let unknown = ProxyHeader(nil, nil)

    /// Creates the header of a client at `source` that has connected to `destination`.
    ///
    /// If one address is of IPv4 and the other of IPv6, the IPv4 address is written as an IPv6 address, such as
    /// `::ffff:192.0.2.1`. Throws `FutureError.invalidArgument` if only one of them is in the UNIX domain.
    public init(source: SocketAddress, destination: SocketAddress, tlvs: [TLV] = []) throws {
        let (plain, other) = (source.unmapped, destination.unmapped)
        try requireArgument(
            plain.isUnix == other.isUnix,
            "a PROXY header cannot have both \(source) and \(destination); give two IP addresses, or two of "
                + "the UNIX domain")
        let areAlike = plain.isIPv6 == other.isIPv6
        self.init(areAlike ? plain : plain.mapped, areAlike ? other : other.mapped, tlvs)
    }
}
