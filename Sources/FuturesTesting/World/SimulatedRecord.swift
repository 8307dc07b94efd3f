internal import Futures
internal import SystemIO

extension SimulatedNames {
    /// A record that the name servers of a world return for a name.
    public enum Record: Hashable, Sendable {
        /// A numeric address, IPv4 or IPv6.
        case address(String)
        /// An alias of another name.
        case alias(String)
        /// A server that provides a service.
        case service(priority: Int = 0, weight: Int = 0, port: Int, target: String)
        /// The strings of a text record, each of at most 255 bytes.
        case text([String])
        /// A server that accepts mail for the name.
        case mailExchange(preference: Int = 0, String)
        /// An endpoint of an HTTPS server, with the values of its parameters by their numbers (RFC 9460). With the
        /// priority 0, the record is an alias.
        case https(priority: Int = 1, target: String = ".", parameters: [Int: [UInt8]] = [:])
        /// The name that an address points to. The record belongs to a name such as `1.2.0.192.in-addr.arpa`.
        case pointer(String)
    }
}

extension SimulatedNames.Record {
    var type: DNSType {
        switch self {
        case .address(let host): host.contains(":") ? .ipv6 : .ipv4
        case .alias: .alias
        case .service: .service
        case .text: .text
        case .mailExchange: .exchange
        case .https: .https
        case .pointer: .pointer
        }
    }

    /// The bytes of the record. Throws `FutureError.invalidArgument` if a name or an address is malformed, or if a
    /// number or a text is out of range.
    func data() throws -> [UInt8] {
        var writer = DNSWriter()
        switch self {
        case .address(let host): return try SocketAddress(host: host, port: 0).networkBytes
        case .alias(let name), .pointer(let name): return try Self.wire(name)
        case .service(let priority, let weight, let port, let target):
            for number in [priority, weight, port] { writer.add(try Self.checked(number)) }
            return writer.bytes + (try Self.wire(target))
        case .text(let strings):
            for string in strings {
                try requireArgument(
                    string.utf8.count <= 255,
                    "a string of \(string.utf8.count) bytes is too long for a TXT record; give at most 255")
            }
            return strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        case .mailExchange(let preference, let name):
            writer.add(try Self.checked(preference))
            return writer.bytes + (try Self.wire(name))
        case .https(let priority, let target, let parameters):
            writer.add(try Self.checked(priority))
            writer.add(bytes: try Self.wire(target))
            for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
                writer.add(try Self.checked(key))
                writer.add(try Self.checked(value.count))
                writer.add(bytes: value)
            }
            return writer.bytes
        }
    }

    private static func checked(_ number: Int) throws -> UInt16 {
        guard let number = UInt16(exactly: number) else {
            throw FutureError.invalidArgument(
                "the number \(number) of a record is out of range; give 0 to 65535")
        }
        return number
    }

    /// Returns a name in the wire format. A single dot stands for the root: no server or, in an HTTPS record that is
    /// not an alias, the name itself.
    private static func wire(_ name: String) throws -> [UInt8] {
        name == "." ? [0] : try DNSName(name).wire
    }
}
