extension DNSName {
    /// Creates the name for the reverse look-up of an address, such as `1.2.0.192.in-addr.arpa`.
    package init(reverse address: SocketAddress) {
        let bytes = address.networkBytes
        let digits: [String]
        if bytes.count == 4 {
            digits = bytes.map { String($0) }
        } else {
            digits = bytes.flatMap { [String($0 >> 4, radix: 16), String($0 & 15, radix: 16)] }
        }
        let labels = digits.reversed() + [bytes.count == 4 ? "in-addr" : "ip6", "arpa"]
        self.init(labels: labels.map { Array($0.utf8) })
    }
}
