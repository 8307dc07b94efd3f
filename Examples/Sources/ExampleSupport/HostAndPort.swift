public import ArgumentParser

/// Where another server listens, as `HOST:PORT`. An address of IPv6 is in brackets.
public struct HostAndPort: ExpressibleByArgument, CustomStringConvertible, Sendable {
    public let host: String
    public let port: Int
    public var description: String { "\(host):\(port)" }

    public init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"),
            let port = Int(argument[argument.index(after: colon)...])
        else { return nil }
        let host = argument[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        (self.host, self.port) = (String(isBracketed ? host.dropFirst().dropLast() : host), port)
    }
}
