public import FoundationEssentials
public import Futures

/// An endpoint of a name's HTTPS server, and how to connect to it: ``DNSResolver/httpsServices(of:on:)``
/// ([RFC 9460](https://www.rfc-editor.org/rfc/rfc9460)).
public struct HTTPSRecord: Hashable, Sendable {
    /// The priority. Clients try endpoints with a lower number first. Zero stands for an alias: the server is
    /// ``target``, which has no HTTPS records of its own.
    public let priority: Int
    /// The name of the endpoint, without a trailing dot. Resolve its addresses to connect, but expect a certificate of
    /// the name that you asked for.
    public let target: String
    /// The port. `nil` if the record does not give one: use the port of the URL.
    public let port: Int?
    /// The protocols that the endpoint speaks, by their ALPN names, such as `h3` and `http/1.1`.
    public let protocols: [String]
    /// Addresses to try before those of ``target`` are known. Their ports are 0.
    public let addressHints: [SocketAddress]
    /// The values of all parameters by their numbers, such as 5 for the configuration of Encrypted ClientHello.
    public let parameters: [Int: Data]
    public package(set) var timeToLive = Duration.zero
    /// The numbers of the parameters that a client must understand to use the record.
    private let demands: [Int]
    /// The reason why the record is malformed. `nil` if it is well-formed.
    fileprivate let fault: DNSFault?
}

extension DNSResolver {
    /// Completes with the endpoints of the HTTPS server of `name`, in the order in which to try them. `name` is an
    /// absolute name. For a port other than 443, ask for a name such as `_8443._https.example.com`.
    ///
    /// Endpoints with a lower priority come first, and those of the same priority in random order. Aliases are
    /// followed. An endpoint is left out if it demands a parameter for which ``HTTPSRecord`` has no property.
    ///
    /// Fails as ``services(of:on:)`` does, also if one of the records is malformed, or if no endpoint is left. Then
    /// connect to the addresses of `name`, as to a server without such records.
    ///
    /// ```swift
    /// let resolver = try DNSResolver()
    /// let endpoint = try await resolver.httpsServices(of: "example.com", on: loop).value[0]
    /// let connection = TCPConnection.connect(host: endpoint.target, port: endpoint.port ?? 443, on: loop)
    /// ```
    public func httpsServices(of name: String, on loop: EventLoop) -> Future<[HTTPSRecord]> {
        look(on: loop) { try $0.endpoints(of: name) }
    }
}

extension DNSType {
    package static let https = DNSType(65, "HTTPS", holding: HTTPSRecord.self)
}

extension HTTPSRecord: DNSRecordData {
    package init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault) {
        let end = reader.position + length
        priority = Int(try reader.number16())
        let target = try reader.name()
        self.target = "\(target.isRoot && priority > 0 ? owner : target)"
        guard reader.position <= end else { throw DNSFault("it ends within a record") }
        var values = HTTPSParameters()
        do throws(DNSFault) {
            // The parameters of an alias do not count.
            let bytes = try reader.take(end - reader.position)
            if priority > 0 { values = try HTTPSParameters(Array(bytes)) }
            fault =
                Host.complaint(about: self.target) == nil || target.isRoot
                ? nil : DNSFault("its target \(target) is not a host name")
        } catch {
            fault = error
        }
        demands = values.mandatory
        parameters = values.all.mapValues { Data($0) }
        port = values.port
        protocols = values.protocols
        addressHints = values.addressHints
    }
}

/// The parameters of a record, by their numbers, each with its form checked.
private struct HTTPSParameters {
    private(set) var all: [Int: ArraySlice<UInt8>] = [:]
    private(set) var mandatory: [Int] = []
    private(set) var protocols: [String] = []
    private(set) var port: Int?
    private(set) var addressHints: [SocketAddress] = []

    init() {}

    init(_ bytes: [UInt8]) throws(DNSFault) {
        var reader = DNSReader(bytes)
        var last = -1
        while reader.position < bytes.count {
            let key = Int(try reader.number16())
            let value = try reader.take(Int(try reader.number16()))
            guard key > last else { throw DNSFault("its parameters are out of order") }
            all[key] = value
            last = key
            try read(key, value)
        }
        guard mandatory.allSatisfy({ all[$0] != nil }) else {
            throw DNSFault("a mandatory parameter is missing")
        }
        guard all[2] == nil || all[1] != nil else { throw DNSFault("it names no protocol") }
        if all[2] == nil, !protocols.contains("http/1.1") { protocols.append("http/1.1") }
    }

    private mutating func read(_ key: Int, _ value: ArraySlice<UInt8>) throws(DNSFault) {
        var isWellFormed = true
        var reader = DNSReader(Array(value))
        switch key {
        case 0:
            while reader.position < value.count { mandatory.append(Int(try reader.number16())) }
            isWellFormed = !mandatory.isEmpty && zip([0] + mandatory, mandatory).allSatisfy(<)
        case 1:
            while reader.position < value.count {
                let name = try reader.take(Int(try reader.number8()))
                isWellFormed = isWellFormed && !name.isEmpty
                protocols.append(String(decoding: name, as: UTF8.self))
            }
            isWellFormed = isWellFormed && !protocols.isEmpty
        case 2: isWellFormed = value.isEmpty
        case 3:
            isWellFormed = value.count == 2
            port = Int(try reader.number16())
        case 4, 6:
            let size = key == 4 ? 4 : 16
            isWellFormed = !value.isEmpty && value.count % size == 0
            while isWellFormed, reader.position < value.count {
                let bytes = Array(try reader.take(size))
                addressHints.append(SocketAddress(networkBytes: bytes, port: 0))
            }
        default: break
        }
        guard isWellFormed else { throw DNSFault("its parameter \(key) is malformed") }
    }
}

extension DNSEngine {
    /// Completes with the endpoints of `name`, at least one. `aliases` are those that led to `name`.
    fileprivate func endpoints(of name: String, after aliases: [HTTPSRecord] = []) throws -> Future<
        [HTTPSRecord]
    > {
        try answer(.https, of: name).flatMap { [self] answer in
            let records = answer.records(of: HTTPSRecord.self, at: loop.now).shuffled(using: &loop.random)
            if let alias = aliases.last, records.isEmpty { return loop.succeeded([alias]) }
            if let fault = records.lazy.compactMap(\.fault).first {
                throw answer.failure(
                    of: name, because: "an HTTPS record of \(name) is malformed: \(fault.text)")
            }
            if let alias = records.first(where: { $0.priority == 0 }) {
                let most = AliasChain.longest
                guard alias.target != "." else {
                    throw answer.failure(of: name, because: "\(name) has no HTTPS server")
                }
                guard aliases.count < most else {
                    throw answer.failure(of: name, because: "\(name) follows more than \(most) aliases")
                }
                return try endpoints(of: alias.target, after: aliases + [alias])
            }
            let usable = records.filter(\.isUsable).sorted { $0.priority < $1.priority }
            guard !usable.isEmpty else {
                throw records.isEmpty
                    ? answer.failure(of: name)
                    : answer.failure(
                        of: name,
                        because: "\(name) has mandatory parameters that this "
                            + "library does not know")
            }
            return loop.succeeded(usable)
        }
    }
}

extension HTTPSRecord {
    /// Whether a client that understands only the properties of the record may connect.
    fileprivate var isUsable: Bool { demands.allSatisfy { [1, 2, 3, 4, 6].contains($0) } }
}
