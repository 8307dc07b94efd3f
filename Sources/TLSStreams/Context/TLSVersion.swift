/// A TLS version. Older versions are not supported.
public enum TLSVersion: Int, Comparable, Sendable, CaseIterable {
    case tls12 = 0x0303
    case tls13 = 0x0304

    public static func < (a: TLSVersion, b: TLSVersion) -> Bool { a.rawValue < b.rawValue }
}

extension TLSVersion: CustomStringConvertible {
    /// `TLS 1.2` or `TLS 1.3`.
    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
