/// The error when the connections to all addresses of a named host have failed. It holds one error for each
/// address that was tried.
public struct ConnectError: Error, Hashable {
    /// The name of the host.
    public let host: String
    public let port: Int
    /// The errors of all addresses that were tried, in the order of the attempts.
    public let errors: [SystemError]

    public init(host: String, port: Int, errors: [SystemError]) {
        self.host = host
        self.port = port
        self.errors = errors
    }
}

extension ConnectError: CustomStringConvertible {
    /// The errors in one line, such as
    /// `connect to localhost port 9: connect ECONNREFUSED 127.0.0.1:9: connection refused; connect …`. The text names
    /// the first eight errors.
    public var description: String {
        "connect to \(host) port \(port): " + errors.listed
    }
}
