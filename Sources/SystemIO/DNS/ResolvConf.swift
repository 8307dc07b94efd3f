/// The contents of `resolv.conf`: the name servers, and how to ask them. Malformed lines are ignored, as other
/// resolvers do. See <https://man7.org/linux/man-pages/man5/resolv.conf.5.html>.
package struct ResolvConf: Equatable {
    /// The name servers, at most three. 127.0.0.1 if the file names none.
    private(set) var servers: [SocketAddress] = []
    /// The domains in which a name without a trailing dot is also looked up.
    private(set) var search: [DNSName] = []
    /// A name with at least this many dots is looked up as it is before the search domains are tried.
    private(set) var dots = 1
    private(set) var timeout = Duration.seconds(5)
    /// The most times that each server is asked.
    private(set) var attempts = 2
    /// Whether the servers take turns to be asked first. Otherwise the first one is always asked first.
    private(set) var rotates = false

    package static let port = 53
    private static let maxServers = 3
    private static let maxTimeout = 30
    private static let maxAttempts = 5
    private static let maxDots = 15

    init(_ bytes: [UInt8]) {
        for words in bytes.lines(commentedBy: "#;") { read(words) }
        if servers.isEmpty { servers = [SocketAddress(canonicalHost: "127.0.0.1", port: UInt16(Self.port))] }
    }

    private mutating func read(_ words: [String]) {
        guard words.count > 1 else { return }
        switch words[0] {
        case "nameserver":
            guard servers.count < Self.maxServers,
                let server = SocketAddress(numericHost: words[1], port: UInt16(Self.port))
            else { return }
            servers.append(server)
        case "domain": search = words[1...1].compactMap { try? DNSName($0) }
        case "search": search = words.dropFirst().compactMap { try? DNSName($0) }
        case "options": for option in words.dropFirst() { read(option: option) }
        default: break
        }
    }

    private mutating func read(option: String) {
        let parts = option.split(separator: ":", maxSplits: 1)
        let number = parts.count > 1 ? Int(parts[1]) : nil
        switch (parts.first, number) {
        case ("rotate", _): rotates = true
        case ("ndots", let number?) where number >= 0: dots = min(number, Self.maxDots)
        case ("timeout", let number?) where number > 0: timeout = .seconds(min(number, Self.maxTimeout))
        case ("attempts", let number?) where number > 0: attempts = min(number, Self.maxAttempts)
        default: break
        }
    }

    /// Returns the absolute names that `name` may stand for, in the order in which to ask for them.
    func candidates(for name: String) throws -> [DNSName] {
        let absolute = try DNSName(name)
        if name.utf8.last == UInt8(ascii: ".") { return [absolute] }
        let inDomains = search.compactMap { absolute.within($0) }
        let hasEnoughDots = absolute.labels.count > dots
        return hasEnoughDots ? [absolute] + inDomains : inDomains + [absolute]
    }
}

extension DNSName {
    /// Returns the name within `domain`, or `nil` if the result is too long.
    fileprivate func within(_ domain: DNSName) -> DNSName? {
        let wire = wire.dropLast() + domain.wire
        return wire.count <= DNSName.longest ? DNSName(wire: Array(wire)) : nil
    }
}

extension [UInt8] {
    /// Returns the words of each line. Any character of `marks` begins a comment, which ends with the line.
    func lines(commentedBy marks: String) -> some Sequence<[String]> {
        let marks = marks.utf8
        return lazy.split(separator: UInt8(ascii: "\n")).map { line in
            line.prefix { !marks.contains($0) }
                .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
