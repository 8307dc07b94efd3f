internal import Futures

/// The error of a look-up that found no addresses or no records for a name.
public struct ResolutionError: Error, Hashable {
    /// The name that was looked up.
    public let name: String
    /// The code of the failure, such as ``SystemError/Code/nameNotFound``. ``SystemError/Code/timedOut`` means that no
    /// answer came in time.
    public let code: SystemError.Code
    /// The name server that reported the failure. `nil` if no single server did, and always `nil` for
    /// ``SystemResolver``.
    public let server: SocketAddress?
    /// An explanation that names the servers. `nil` if the code says all that is known.
    public let reason: String?

    public init(name: String, code: SystemError.Code, server: SocketAddress? = nil, reason: String? = nil) {
        self.name = name
        self.code = code
        self.server = server
        self.reason = reason
    }
}

extension ResolutionError: CustomStringConvertible {
    /// The error in one line, such as `resolve EAI_NONAME example.invalid: unknown node or service`.
    public var description: String {
        let message = reason ?? (code == .timedOut ? "no answer came in time" : code.message)
        return "resolve \(code.name) \(name): \(message)"
    }
}

extension Future {
    /// Completes as this future does, which looks up `name`. After `timeout`, fails with ``ResolutionError``.
    func limited(to timeout: Duration, lookingUp name: String) -> Future<Value> {
        self.timeout(after: timeout).mapError { error in
            guard error as? FutureError == .timedOut(after: timeout) else { return error }
            return ResolutionError(name: name, code: .timedOut)
        }
    }
}
