internal import Futures

/// A host that a user gave: an address, or a name.
package enum Host: Hashable {
    case numeric(SocketAddress)
    case localhost([SocketAddress])
    /// A well-formed name that has to be looked up.
    case name(String)

    /// Reads a host. Throws `FutureError.invalidArgument` if `host` is neither an address nor a well-formed
    /// name, or `port` is out of range.
    package init(_ host: String, port: Int) throws {
        let number = try SocketAddress.checked(port)
        if let address = SocketAddress(numericHost: host, port: number) {
            self = .numeric(address)
        } else if host.lowercased() == "localhost" {
            self = .localhost(SocketAddress.localhost(port: number))
        } else if let complaint = Host.complaint(about: host) {
            throw FutureError.invalidArgument("host \(Host.quoted(host)) \(complaint)")
        } else {
            self = .name(host)
        }
    }

    /// Returns `host` in quotation marks. Shows only visible ASCII characters, and at most as many as a name can have.
    package static func quoted(_ host: String) -> String {
        let start = host.unicodeScalars.prefix(longestName)
        let text = start.map { $0.escaped(asASCII: true) }.joined()
        return "\"\(text)\"" + (start.endIndex == host.endIndex ? "" : "…")
    }

    private static let longestName = 253
    private static let longestLabel = 63

    /// Returns the reason why `name` is invalid, or `nil` if it is valid. Also allows underscores, which Internet names
    /// do not have.
    static func complaint(about name: String) -> String? {
        let bytes = name.utf8
        if bytes.isEmpty { return "is empty; give a name or a numeric address" }
        if bytes.contains(UInt8(ascii: ":")) || bytes.contains(UInt8(ascii: "[")) {
            return complaint(aboutAddress: name)
        }
        if bytes.contains(where: { $0 >= 0x80 }) {
            return "is not ASCII; give the name in its ASCII form, with xn--…"
        }
        if let byte = bytes.first(where: { !isAllowed($0) }) {
            return
                "contains \(quoted(String(UnicodeScalar(byte)))); a name has letters, digits, hyphens, underscores and dots"
        }
        let relative = bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...]
        if relative.count > longestName {
            return "has \(relative.count) bytes; a name has at most \(longestName)"
        }
        let labels = relative.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.contains(where: \.isEmpty) { return "has an empty part before or between its dots" }
        if let label = labels.first(where: { $0.count > longestLabel }) {
            return "has a part of \(label.count) bytes; each part of a name has at most \(longestLabel)"
        }
        if relative.count == bytes.count, isReadAsAddress(labels) {
            return "looks like a numeric address, but is not a valid one; give one like 192.0.2.1"
        }
        return nil
    }

    /// Whether the system would read a name as an address, such as `1.2` as 1.0.0.2: up to four numbers, the last of
    /// which fills the remaining bytes. It would look up `300.1.1.1` and `node.2` as names.
    private static func isReadAsAddress(_ labels: [Substring.UTF8View]) -> Bool {
        let numbers = labels.compactMap(number)
        return numbers.count == labels.count && labels.count <= 4
            && numbers.dropLast().allSatisfy { $0 < 256 }
            && numbers.last! >> (8 * (5 - labels.count)) == 0
    }

    /// Returns `label` as C reads a number of at most 32 bits: decimal, octal after `0`, or hexadecimal after `0x`.
    private static func number(_ label: Substring.UTF8View) -> UInt64? {
        let text = Substring(label)
        if text.lowercased().hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16).map(UInt64.init) }
        return UInt32(text, radix: text.hasPrefix("0") ? 8 : 10).map(UInt64.init)
    }

    /// Returns the reason why a text with a colon or a bracket is invalid. A name cannot have either.
    private static func complaint(aboutAddress address: String) -> String {
        if let end = address.firstRange(of: "://") {
            let rest = address[end.upperBound...].prefix { $0 != "/" }
            return "is a URL; give the host in it, \(quoted(String(rest)))"
        }
        if let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...])
        {
            let host = address[..<colon]
            let bare = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
            if bare.count < host.count || !host.contains(":") {
                return
                    "ends with a port; give the host, \(quoted(String(bare))), and the port, \(port), apart"
            }
        }
        if let percent = address.firstIndex(of: "%"),
            SocketAddress(numericHost: String(address[..<percent]), port: 0) != nil
        {
            let zone = quoted(String(address[address.index(after: percent)...]))
            return
                "has the zone \(zone), which is not a network interface of this machine; ip link shows their names"
        }
        return "is not an IPv6 address; give one like ::1 or fe80::1%eth0, without brackets and port"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
