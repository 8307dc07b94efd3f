internal import Futures

/// The address of one end of a connection: an IPv4 or IPv6 host in numbers and a port, or a path of the UNIX domain.
public struct SocketAddress: Hashable, Sendable {
    // The host or the path, as each connection has two of these.
    private let text: String
    private let number: UInt16
    private let isPath: Bool

    /// In its shortest usual form: `127.0.0.1`, `::1`, `fe80::1%eth0`. Empty in the UNIX domain.
    public var host: String { isPath ? "" : text }
    /// From 0 to 65535. 0 in the UNIX domain.
    public var port: Int { Int(number) }
    /// In the UNIX domain, and only there: the path; an abstract name behind `@`; empty for an end without a name, as
    /// that of a client.
    public var path: String? { isPath ? text : nil }

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
        (text, number, isPath) = (host, port, false)
    }

    /// The most that the system takes of a path, in bytes.
    private static let maximumPath = 107

    /// The address in the UNIX domain that `path` says: a path, or `@` and an abstract name, which is of no file
    /// system and gone with its socket. A path that begins with `@` is written `./@`.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `path` is empty, is longer than 107 bytes, or holds a
    /// zero byte.
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

    init(canonicalPath path: String) {
        (text, number, isPath) = (path, 0, true)
    }

    /// Whether it is an abstract name of the UNIX domain.
    public var isAbstract: Bool { path.map(SocketAddress.isAbstract) ?? false }

    /// By its first byte: a character may begin with it, and go on.
    private static func isAbstract(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "@") }

    /// In one line, whoever gave it, and not too long a one.
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

    /// The addresses to listen on for `host`, in the order in which they are to be tried.
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
                "host \(Host.quoted(host)) is no numeric IPv4 or IPv6 address; a server listens on such an address "
                    + "or localhost")
        }
        return [address]
    }

    static func checked(_ port: Int) throws -> UInt16 {
        guard let port = UInt16(exactly: port) else {
            throw FutureError.invalidArgument("port \(port) is out of range; give 0 to 65535")
        }
        return port
    }
}

extension SocketAddress: CustomStringConvertible {
    /// Like `127.0.0.1:7007`, `[::1]:7007`, `unix:/run/echo.sock`, `unix:@name`, or, without a name, `unix:unnamed`.
    /// Control characters of a path are spelled out, so that it is one line.
    public var description: String {
        if let path { return path.isEmpty ? "unix:unnamed" : "unix:\(SocketAddress.visible(path))" }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
