internal import UVFutures

extension Host {
    /// The one spelling that stands for all spellings of a name: in small letters, and without a dot at its end. `nil` for
    /// an address.
    var serverName: String? {
        switch self {
        case .numeric: nil
        case .localhost: "localhost"
        case .name(let name): (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
        }
    }
}
