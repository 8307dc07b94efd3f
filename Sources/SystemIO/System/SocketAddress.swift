internal import Futures

/// The address of one end of a connection. An address is either a numeric IPv4 or IPv6 host with a port, or a
/// name in the UNIX domain: a path or an abstract name.
public struct SocketAddress: Hashable, Sendable {
    /// The numbers of an address are in the byte order of this machine. `zone` is the number of the network
    /// interface of a link-local address, and 0 for all others.
    package enum Form: Hashable {
        case ipv4(UInt32, port: UInt16)
        case ipv6(high: UInt64, low: UInt64, zone: UInt32, port: UInt16)
        /// An abstract name begins with a zero byte, as in the system. An end without a name has no bytes.
        case unix([UInt8])
    }

    package let form: Form

    package init(_ form: Form) { self.form = form }

    /// The host in its shortest usual form, such as `127.0.0.1`, `::1` or `fe80::1%eth0`. The text is empty if the
    /// address is in the UNIX domain. Each access creates the text anew.
    public var host: String {
        switch form {
        case .ipv4(let address, _): ipv4Text(address)
        case .ipv6(let high, let low, let zone, _): ipv6Text(high, low) + zoneText(zone)
        case .unix: ""
        }
    }
    /// The port, from 0 to 65535. The port is 0 if the address is in the UNIX domain.
    public var port: Int {
        switch form {
        case .ipv4(_, let port), .ipv6(_, _, _, let port): Int(port)
        case .unix: 0
        }
    }
    /// The path in the UNIX domain, or `nil` if the address is not in the UNIX domain. The path begins with `@` for an
    /// abstract name, and with `./@` for a file whose name begins with `@`. If an end of a connection has no name, the
    /// path is empty. A client usually has no name.
    public var path: String? {
        guard case .unix(let name) = form else { return nil }
        // A file that the system calls `@name` is not an abstract name.
        let prefix = isAbstract ? "@" : name.first == UInt8(ascii: "@") ? "./" : ""
        return prefix + String(systemBytes: name.dropFirst(isAbstract ? 1 : 0))
    }

    /// Whether the address is in the UNIX domain, and whether it has a name there.
    package var isUnix: Bool { if case .unix = form { true } else { false } }
    package var hasName: Bool { if case .unix(let name) = form { !name.isEmpty } else { false } }

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

    /// Creates an address from the text that `host` has returned, or from another numeric host.
    package init(canonicalHost host: String, port: UInt16) {
        self.init(numericHost: host, port: port)!
    }

    /// The same host with another port. An address in the UNIX domain has no port, and stays as it is.
    package func with(port: UInt16) -> SocketAddress {
        switch form {
        case .ipv4(let address, _): SocketAddress(.ipv4(address, port: port))
        case .ipv6(let high, let low, let zone, _):
            SocketAddress(.ipv6(high: high, low: low, zone: zone, port: port))
        case .unix: self
        }
    }

    /// The size of a name in the system's address of the UNIX domain, in bytes.
    package static let unixSize = 108
    /// The longest path that the system takes, in bytes: a zero byte follows the path.
    private static let maximumPath = unixSize - 1

    /// Creates an address in the UNIX domain. `path` is a path, or `@` followed by an abstract name. An
    /// abstract name is not in a file system, and disappears together with its socket. If the name of a file
    /// begins with `@`, write `./` before it, as in `./@name`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `path` is empty, is longer than 107 bytes, or contains a
    /// zero byte and is not an abstract name.
    public init(path: String) throws {
        let isAbstract = path.utf8.first == UInt8(ascii: "@")
        let size = path.systemBytes.count - (isAbstract ? 1 : 0)
        try requireArgument(
            size > 0, "a socket path of \"\(path)\" is empty; give a path, or @ followed by a name")
        try requireArgument(
            size <= SocketAddress.maximumPath,
            "the socket path \(SocketAddress.visible(path)) is too long: it has \(size) bytes, but the system allows "
                + "\(SocketAddress.maximumPath); give a shorter one, perhaps a relative one")
        try requireArgument(
            isAbstract || !path.utf8.contains(0),
            "the socket path \(path.debugDescription) holds a zero byte, at which the system would end it; give a "
                + "path without")
        self.init(canonicalPath: path)
    }

    package init(canonicalPath path: String) {
        var name = path.systemBytes
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        form = .unix(name)
    }

    /// Whether the address is an abstract name of the UNIX domain.
    public var isAbstract: Bool { if case .unix(let name) = form { name.first == 0 } else { false } }

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

    public var isIPv6: Bool { if case .ipv6 = form { true } else { false } }

    /// Whether the address is a loopback address: in 127.0.0.0/8, or ::1.
    package var isLoopback: Bool {
        switch form {
        case .ipv4(let address, _): address >> 24 == 127
        case .ipv6(let high, let low, _, _): high == 0 && low == 1
        case .unix: false
        }
    }

    /// Whether the address is a multicast address: in 224.0.0.0/4, or in ff00::/8.
    package var isMulticast: Bool {
        switch form {
        case .ipv4(let address, _): address >> 28 == 0xE
        case .ipv6(let high, _, _, _): high >> 56 == 0xFF
        case .unix: false
        }
    }

    /// The bits before the IPv4 address in an IPv4-mapped IPv6 address, such as `::ffff:127.0.0.1`.
    private static let mappedPrefix: UInt64 = 0xFFFF

    /// The IPv4-mapped form of an IPv4 address, as IPv6 sockets show it. Other addresses stay as they are.
    package var mapped: SocketAddress {
        guard case .ipv4(let address, let port) = form else { return self }
        return SocketAddress(
            .ipv6(high: 0, low: Self.mappedPrefix << 32 | UInt64(address), zone: 0, port: port))
    }

    /// The IPv4 form of an IPv4-mapped address. Other addresses stay as they are.
    package var unmapped: SocketAddress {
        guard case .ipv6(0, let low, _, let port) = form, low >> 32 == Self.mappedPrefix else { return self }
        return SocketAddress(.ipv4(UInt32(truncatingIfNeeded: low), port: port))
    }

    /// Whether the address stands for all addresses of a machine: `0.0.0.0` or `::`.
    package var isWildcard: Bool {
        switch unmapped.form {
        case .ipv4(let address, _): address == 0
        case .ipv6(let high, let low, _, _): high | low == 0
        case .unix: false
        }
    }

    /// Returns the addresses to listen on for `host`, in the order in which to try them.
    static func all(host: String, port: Int) throws -> [SocketAddress] {
        let port = try checked(port)
        if host == "localhost" { return localhost(port: port) }
        guard let address = SocketAddress(numericHost: host, port: port) else {
            throw FutureError.invalidArgument(
                "host \(Host.quoted(host)) is not a numeric IPv4 or IPv6 address; a server listens on such an address "
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
