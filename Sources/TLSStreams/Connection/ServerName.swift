internal import SystemIO

extension Host {
    /// The canonical spelling of a name: in lower case, and without a trailing dot. `nil` for an address.
    var serverName: String? {
        switch self {
        case .numeric: nil
        case .localhost: "localhost"
        case .name(let name): (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
        }
    }
}
