internal import Futures

/// The numeric address of one end of a connection: an IPv4 or IPv6 host and a port.
public struct SocketAddress: Hashable, Sendable {
    /// In its shortest usual form: `127.0.0.1`, `::1`, `fe80::1%eth0`.
    public let host: String
    /// From 0 to 65535.
    public let port: Int

    /// The address that `host` spells in numbers. Names, `localhost` among them, are none.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `host` is not numeric or `port` is out of
    /// range.
    public init(host: String, port: Int) throws {
        guard let address = SocketAddress(numericHost: host, port: try SocketAddress.checked(port)) else {
            throw FutureError.invalidArgument("host \"\(host)\" is not a numeric IPv4 or IPv6 address")
        }
        self = address
    }

    init(canonicalHost host: String, port: UInt16) {
        self.host = host
        self.port = Int(port)
    }

    public var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// The addresses that `host` stands for, in the order in which they are to be tried.
    static func all(host: String, port: Int) throws -> [SocketAddress] {
        let port = try checked(port)
        if host == "localhost" {
            return [
                SocketAddress(canonicalHost: "127.0.0.1", port: port),
                SocketAddress(canonicalHost: "::1", port: port),
            ]
        }
        guard let address = SocketAddress(numericHost: host, port: port) else {
            throw FutureError.invalidArgument(
                "host \"\(host)\" is no numeric IPv4 or IPv6 address, and names are not resolved; give such an "
                    + "address or localhost")
        }
        return [address]
    }

    private static func checked(_ port: Int) throws -> UInt16 {
        guard let port = UInt16(exactly: port) else {
            throw FutureError.invalidArgument("port \(port) is out of range; give 0 to 65535")
        }
        return port
    }
}

extension SocketAddress: CustomStringConvertible {
    /// Like `127.0.0.1:7007` or `[::1]:7007`.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
