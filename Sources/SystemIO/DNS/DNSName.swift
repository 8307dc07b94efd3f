internal import Futures

/// A name in wire format: the length and the bytes of each label, and a zero byte at the end. Comparisons ignore case.
package struct DNSName: Hashable {
    /// At most 255 bytes, including the zero byte.
    package let wire: [UInt8]

    package static let longest = 255
    /// The most labels of a name. A label has at least two bytes.
    static let mostLabels = longest / 2

    init(wire: [UInt8]) { self.wire = wire }

    /// Reads an absolute name, with or without a trailing dot. Throws `FutureError.invalidArgument` if `text` is not a
    /// well-formed name of ASCII letters, digits, hyphens and underscores.
    package init(_ text: String) throws {
        if let address = SocketAddress(numericHost: text, port: 0) {
            throw FutureError.invalidArgument(
                "\"\(address.host)\" is an address, not a name; give a name, or call names(of:on:)")
        }
        if let complaint = Host.complaint(about: text) {
            throw FutureError.invalidArgument("the name \(Host.quoted(text)) \(complaint)")
        }
        self.init(labels: text.utf8.split(separator: UInt8(ascii: ".")).map(Array.init))
    }

    package init(labels: [[UInt8]]) { wire = labels.flatMap { [UInt8($0.count)] + $0 } + [0] }

    package var isRoot: Bool { wire.count == 1 }

    /// The labels without their lengths, in order.
    var labels: [ArraySlice<UInt8>] {
        var labels: [ArraySlice<UInt8>] = []
        var start = 0
        while wire[start] > 0 {
            let end = start + 1 + Int(wire[start])
            labels.append(wire[start + 1..<end])
            start = end
        }
        return labels
    }

    /// Whether the name is `domain` itself, or lies within it.
    func isWithin(_ domain: DNSName) -> Bool {
        let (labels, last) = (labels.map(Array.init), domain.labels.map(Array.init))
        return labels.count >= last.count && DNSName(labels: labels.suffix(last.count)) == domain
    }

    package static func == (a: DNSName, b: DNSName) -> Bool {
        a.wire.count == b.wire.count && zip(a.wire, b.wire).allSatisfy { folded($0) == folded($1) }
    }

    package func hash(into hasher: inout Hasher) { for byte in wire { hasher.combine(Self.folded(byte)) } }

    /// Returns a letter in lower case, and any other byte as it is. The lengths of labels stay as they are, too: they
    /// are less than the code of any letter.
    private static func folded(_ byte: UInt8) -> UInt8 { isUpperCase(byte) ? byte | caseBit : byte }

    private static func isUpperCase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")) ~= byte }

    private static let caseBit: UInt8 = 0x20

    /// Returns the same name with letters in random case. An answer repeats the name, so a forger who has not seen the
    /// query has to guess the case of each letter.
    func withRandomCase(using random: inout some RandomNumberGenerator) -> DNSName {
        DNSName(
            wire: wire.map { byte in
                let upper = byte & ~Self.caseBit
                return Self.isUpperCase(upper) && random.next() & 1 == 0 ? byte ^ Self.caseBit : byte
            })
    }
}

extension DNSName: CustomStringConvertible {
    /// The name without a trailing dot, as in `www.example.com`. The root is `.`. Within a label, a backslash escapes a
    /// dot or a backslash. Any byte that is not visible ASCII becomes a backslash and three decimal digits.
    package var description: String {
        if isRoot { return "." }
        return labels.map { $0.map(Self.escaped).joined() }.joined(separator: ".")
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
        case 0x21...0x7E: String(UnicodeScalar(byte))
        default: "\\" + String(1000 + Int(byte)).dropFirst()
        }
    }
}
