/// The error of a look-up that found no addresses for a name.
public struct ResolutionError: Error, Hashable {
    /// The name that was looked up.
    public let name: String
    /// The code of the failure, such as ``UVError/Code/nameNotFound``. ``UVError/Code/timedOut`` means that no
    /// answer came in time.
    public let code: UVError.Code

    public init(name: String, code: UVError.Code) {
        self.name = name
        self.code = code
    }
}

extension ResolutionError: CustomStringConvertible {
    /// The error in one line, such as `resolve EAI_NONAME example.invalid: unknown node or service`.
    public var description: String {
        let message = code == .timedOut ? "no answer came in time" : code.message
        return "resolve \(code.name) \(name): \(message)"
    }
}
