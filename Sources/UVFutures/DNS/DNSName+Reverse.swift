extension DNSName {
    /// The name under which the names of an address are found, such as `1.2.0.192.in-addr.arpa`.
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
