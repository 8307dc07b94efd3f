/// The reasons why a connection to a named host failed: the outcome for each of its addresses.
public struct ConnectError: Error, Hashable {
    /// The name of the host.
    public let host: String
    public let port: Int
    /// One error for each address that was tried, in the order of the attempts.
    public let errors: [UVError]

    public init(host: String, port: Int, errors: [UVError]) {
        self.host = host
        self.port = port
        self.errors = errors
    }
}

extension ConnectError: CustomStringConvertible {
    /// Like `connect to localhost port 9: connect ECONNREFUSED 127.0.0.1:9: connection refused; connect …`. Names the
    /// first eight.
    public var description: String {
        "connect to \(host) port \(port): " + errors.listed
    }
}
