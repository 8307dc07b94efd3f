internal import Futures

/// The rules of a server for connections that come through a proxy that sends a ``ProxyHeader``: see
/// ``SocketServer/proxyProtocol`` and `TCPServerGroup.listen`.
public struct ProxyProtocol: Sendable {
    /// The longest time until the header is complete.
    public var timeout: Duration = .seconds(5)
    /// The most bytes of a header of version 2.
    public var maximumSize = 4096
    /// Returns whether a peer may send a header. A connection of any other peer is reset. The default trusts all peers:
    /// anyone who can reach the port can then claim any address. Runs on the loop of the connection.
    public var isTrusted: @Sendable (_ peer: SocketAddress?) -> Bool = { _ in true }

    public init() {}

    package func validate() throws {
        try requirePositive("timeout", timeout)
        try requireArgument("maximumSize", maximumSize, atLeast: 16)
    }
}

/// The header of a connection. An object, so that its connection holds it in one reference.
final class ProxyRecord {
    let header: ProxyHeader
    /// The number of its bytes.
    let size: Int

    init(_ header: ProxyHeader, size: Int) {
        self.header = header
        self.size = size
    }
}
