import ExampleSupport
import FoundationEssentials

/// What is checked: `tcp://host:port`, `udp://host:port`, `tls://host:port`, `http://host[:port]/path` or `https://…`.
struct Target: CustomStringConvertible {
    enum Kind: String, CaseIterable { case tcp, udp, tls, http, https }

    let description: String
    let kind: Kind
    let host: String
    let port: Int
    let path: String

    init(_ text: String) throws {
        func wrong(_ reason: String) -> Refusal { Refusal("\"\(text)\" \(reason)") }
        let parts = text.split(separator: "://", maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw wrong("is no target; write KIND://HOST:PORT, where KIND is one of \(kinds)")
        }
        let end = parts[1].firstIndex(of: "/") ?? parts[1].endIndex
        let authority = parts[1][..<end]
        let speaksHTTP = kind == .http || kind == .https
        guard speaksHTTP || end == parts[1].endIndex else { throw wrong("has a path, which only HTTP has") }
        guard parts[1].utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
            throw wrong("has a space or a control character")
        }
        let host: Substring
        var port: Substring?
        if authority.first == "[" {
            guard let bracket = authority.firstIndex(of: "]") else { throw wrong("lacks a ]") }
            host = authority[authority.index(after: authority.startIndex)..<bracket]
            let rest = authority[authority.index(after: bracket)...]
            guard rest.isEmpty || rest.first == ":" else { throw wrong("has more than a port behind the ]") }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            let pieces = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = pieces[0]
            port = pieces.count == 2 ? pieces[1] : nil
        }
        guard !host.isEmpty else { throw wrong("has no host") }
        let usual = kind == .http ? 80 : kind == .https || kind == .tls ? 443 : nil
        guard let number = port.map({ Int($0) }) ?? usual else {
            throw wrong("has no port; write \(kind.rawValue)://\(host):PORT")
        }
        guard (1...65_535).contains(number) else { throw wrong("has port \(number); give 1 to 65535") }
        (description, self.kind, self.host, self.port) = (text, kind, String(host), number)
        path = end == parts[1].endIndex ? "/" : String(parts[1][end...])
    }
}
