internal import Futures

/// The address of one end of a connection. An address is either a numeric IPv4 or IPv6 host with a port, or a
/// name in the UNIX domain: a path or an abstract name.
public struct SocketAddress: Hashable, Sendable {
    // One property holds the host or the path. That saves memory, because each connection has two addresses.
    private let text: String
    private let number: UInt16
    private let isPath: Bool

    /// The host in its shortest usual form, such as `127.0.0.1`, `::1` or `fe80::1%eth0`. The text is empty
    /// if the address is in the UNIX domain.
    public var host: String { isPath ? "" : text }
    /// The port, from 0 to 65535. The port is 0 if the address is in the UNIX domain.
    public var port: Int { Int(number) }
    /// The path in the UNIX domain, or `nil` if the address is not in the UNIX domain. An abstract name
    /// begins with `@`. If an end of a connection has no name, the path is empty. A client usually has no
    /// name.
    public var path: String? { isPath ? text : nil }

    /// Creates an address from a numeric `host` and a `port`. Does not accept names, not even `localhost`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `host` is not numeric, or if `port` is not from
    /// 0 to 65535.
    public init(host: String, port: Int) throws {
        guard let address = SocketAddress(numericHost: host, port: try SocketAddress.checked(port)) else {
            throw FutureError.invalidArgument("host \"\(host)\" is not a numeric IPv4 or IPv6 address")
        }
        self = address
    }

    package init(canonicalHost host: String, port: UInt16) { (text, number, isPath) = (host, port, false) }

    /// The longest path that the system takes, in bytes.
    private static let maximumPath = 107

    /// Creates an address in the UNIX domain. `path` is a path, or `@` followed by an abstract name. An
    /// abstract name is not in a file system, and disappears together with its socket. If the name of a file
    /// begins with `@`, write `./` before it, as in `./@name`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `path` is empty, is longer than 107 bytes, or
    /// contains a zero byte.
    public init(path: String) throws {
        let size = path.utf8.count - (SocketAddress.isAbstract(path) ? 1 : 0)
        guard size > 0 else {
            throw FutureError.invalidArgument(
                "a socket path of \"\(path)\" is empty; give a path, or @ and a name")
        }
        guard size <= SocketAddress.maximumPath else {
            throw FutureError.invalidArgument(
                "the socket path \(SocketAddress.visible(path)) is too long: it has \(size) bytes, and the system takes "
                    + "\(SocketAddress.maximumPath); give a shorter one, perhaps a relative one")
        }
        guard !path.utf8.contains(0) else {
            throw FutureError.invalidArgument(
                "the socket path \(path.debugDescription) holds a zero byte, at which the system would end it; give a "
                    + "path without")
        }
        self.init(canonicalPath: path)
    }

    package init(canonicalPath path: String) { (text, number, isPath) = (path, 0, true) }

    /// Whether the address is an abstract name of the UNIX domain.
    public var isAbstract: Bool { path.map(SocketAddress.isAbstract) ?? false }

    /// Returns whether the first byte of `path` is `@`. The first character may consist of `@` and further
    /// code points.
    private static func isAbstract(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "@") }

    /// Returns the first 200 code points of the path on one line. Control characters are escaped.
    private static func visible(_ path: String) -> String {
        let start = path.unicodeScalars.prefix(200)
        let text = start.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
            default: String(scalar)
            }
        }
        return text.joined() + (start.endIndex == path.endIndex ? "" : "…")
    }

    public var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// Returns the addresses to listen on for `host`, in the order in which to try them.
    static func all(host: String, port: Int) throws -> [SocketAddress] {
        let port = try checked(port)
        if host == "localhost" { return localhost(port: port) }
        guard let address = SocketAddress(numericHost: host, port: port) else {
            throw FutureError.invalidArgument(
                "host \(Host.quoted(host)) is no numeric IPv4 or IPv6 address; a server listens on such an address "
                    + "or localhost")
        }
        return [address]
    }

    /// The two addresses that `localhost` stands for, in the order in which to try them.
    static func localhost(port: UInt16) -> [SocketAddress] {
        ["127.0.0.1", "::1"].map { SocketAddress(canonicalHost: $0, port: port) }
    }

    static func checked(_ port: Int) throws -> UInt16 {
        guard let port = UInt16(exactly: port) else {
            throw FutureError.invalidArgument("port \(port) is out of range; give 0 to 65535")
        }
        return port
    }
}

extension SocketAddress: CustomStringConvertible {
    /// The address in one line, such as `127.0.0.1:7007`, `[::1]:7007`, `unix:/run/echo.sock`, or
    /// `unix:@name`. If an end of a connection has no name, the text is `unix:unnamed`. Control characters in
    /// a path are escaped, so that the text stays on one line.
    public var description: String {
        if let path { return path.isEmpty ? "unix:unnamed" : "unix:\(SocketAddress.visible(path))" }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
