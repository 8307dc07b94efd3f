/// Why a host whose name was given could not be connected to: what came of each of its addresses.
public struct ConnectError: Error, Hashable {
    /// The name.
    public let host: String
    public let port: Int
    /// One for each address that was tried, in the order in which that was done.
    public let errors: [UVError]

    public init(host: String, port: Int, errors: [UVError]) {
        self.host = host
        self.port = port
        self.errors = errors
    }
}

extension ConnectError: CustomStringConvertible {
    /// Like `connect to localhost port 9: connect ECONNREFUSED 127.0.0.1:9: connection refused; connect …`. Names the first
    /// eight.
    public var description: String {
        "connect to \(host) port \(port): " + errors.listed
    }
}
