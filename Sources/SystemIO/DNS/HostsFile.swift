/// The contents of the `hosts` file: the addresses of some names, and the names of some addresses. Malformed lines are
/// ignored. See <https://man7.org/linux/man-pages/man5/hosts.5.html>.
package struct HostsFile {
    /// The addresses of each name, without duplicates. The names are in lower case, and the ports are 0.
    private var addresses: [String: [SocketAddress]] = [:]
    /// The first name of each address.
    private var names: [SocketAddress: String] = [:]

    package init(_ bytes: [UInt8]) {
        for words in bytes.lines(commentedBy: "#") where words.count > 1 {
            // Like the C library, this ignores an address with a zone.
            guard !words[0].contains("%"), let address = SocketAddress(numericHost: words[0], port: 0) else {
                continue
            }
            for name in words.dropFirst().map({ $0.lowercased() })
            where addresses[name]?.contains(address) != true {
                addresses[name, default: []].append(address)
            }
            if names[address.unmapped] == nil { names[address.unmapped] = words[1] }
        }
    }

    /// Returns the addresses of `name`, IPv6 first. Empty if the file does not have the name. A trailing dot has to
    /// match the file.
    package func addresses(of name: String) -> [SocketAddress] {
        let found = addresses[name.lowercased()] ?? []
        return found.filter(\.isIPv6) + found.filter { !$0.isIPv6 }
    }

    /// Returns the name of `address`, or `nil` if the file does not have the address.
    func name(of address: SocketAddress) -> String? { names[address.with(port: 0)] }
}
