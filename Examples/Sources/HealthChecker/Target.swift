import ExampleSupport
import FoundationEssentials

/// What is checked: `tcp://host:port`, `udp://host:port`, `tls://host:port`, `http://host[:port]/path` or `https://…`.
struct Target: CustomStringConvertible {
    enum Kind: String, CaseIterable { case tcp, udp, tls, http, https }

    let description: String
    let kind: Kind
    let host: String
    let port: Int
    /// The host for the field `Host` of HTTP, with a port that is not the usual one.
    let authority: String
    /// The path and the query for the first line of HTTP.
    let path: String

    init(_ text: String) throws {
        func wrong(_ reason: String) -> Refusal { Refusal("\(text.debugDescription) \(reason)") }
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false),
            let kind = url.scheme.flatMap({ Kind(rawValue: $0.lowercased()) })
        else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw wrong("is no target; write KIND://HOST:PORT, where KIND is one of \(kinds)")
        }
        guard let encoded = url.encodedHost, !encoded.isEmpty else { throw wrong("has no host") }
        guard url.user == nil else { throw wrong("has a user, as whom nobody can log in here") }
        let speaksHTTP = kind == .http || kind == .https
        guard speaksHTTP || url.percentEncodedPath.isEmpty && url.query == nil && url.fragment == nil else {
            throw wrong("has a path, which only HTTP has")
        }
        let usual = kind == .http ? 80 : kind == .https || kind == .tls ? 443 : nil
        guard let port = url.port ?? usual else {
            throw wrong("has no port; write \(kind.rawValue)://\(encoded):PORT")
        }
        guard (1...65_535).contains(port) else { throw wrong("has port \(port); give 1 to 65535") }
        (description, self.kind, self.port) = (text, kind, port)
        host = encoded.hasPrefix("[") ? String(encoded.dropFirst().dropLast()) : encoded
        authority = port == usual ? encoded : "\(encoded):\(port)"
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        self.path = path + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
    }
}
