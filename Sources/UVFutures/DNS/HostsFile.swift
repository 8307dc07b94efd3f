/// What the `hosts` file says: the addresses of some names, and the names of some addresses. Lines that make no
/// sense are ignored. See <https://man7.org/linux/man-pages/man5/hosts.5.html>.
package struct HostsFile {
    /// The addresses of each name, in lower case, each once. Their ports are 0.
    private var addresses: [String: [SocketAddress]] = [:]
    /// The first name of each address.
    private var names: [SocketAddress: String] = [:]

    package init(_ bytes: [UInt8]) {
        for words in bytes.lines(commentedBy: "#") where words.count > 1 {
            // As for the C library, an address with a zone is none.
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

    /// Returns the addresses of `name`, which has a dot at its end only if it has one in the file, IPv6 first. Empty if the file does not have
    /// the name.
    package func addresses(of name: String) -> [SocketAddress] {
        let found = addresses[name.lowercased()] ?? []
        return found.filter(\.isIPv6) + found.filter { !$0.isIPv6 }
    }

    /// Returns the name of `address`. `nil` if the file does not have the address.
    func name(of address: SocketAddress) -> String? { names[address.with(port: 0)] }
}
