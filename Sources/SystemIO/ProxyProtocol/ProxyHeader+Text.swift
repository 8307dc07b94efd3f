extension ProxyHeader {
    /// Reads a header of version 1 from its line, without the line break.
    init(line: ArraySlice<UInt8>) throws {
        let words = line.dropFirst(ProxyHeaderDecoder.word.count)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let family = words[0]
        if family == "UNKNOWN" {
            self = .unknown
            return
        }
        guard family == "TCP4" || family == "TCP6" else {
            throw ProxyProtocolError.malformed(.v1, "the family is neither TCP4, TCP6 nor UNKNOWN")
        }
        guard words.count == 5 else {
            throw ProxyProtocolError.malformed(
                .v1, "there are \(words.count - 1) words after \(family), and not 4")
        }
        let isIPv6 = family == "TCP6"
        let source = try Self.address(words[1], words[3], isIPv6)
        self.init(source, try Self.address(words[2], words[4], isIPv6))
    }

    private static func address(_ host: String, _ port: String, _ isIPv6: Bool) throws -> SocketAddress {
        let digits = port.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits, port == "0" || !port.hasPrefix("0"), let number = UInt16(port) else {
            throw ProxyProtocolError.malformed(.v1, "a port is not a number from 0 to 65535")
        }
        // The system would accept a zone, too, but a zone of another machine means nothing here.
        guard !host.utf8.contains(UInt8(ascii: "%")),
            let address = SocketAddress(numericHost: host, port: number),
            address.isIPv6 == isIPv6
        else {
            throw ProxyProtocolError.malformed(
                .v1, "an address is not an \(isIPv6 ? "IPv6" : "IPv4") address")
        }
        return address
    }

    /// The line of version 1.
    var line: [UInt8] {
        guard let source, let destination, !source.isUnix, !isDatagram else {
            return Array("PROXY UNKNOWN\r\n".utf8)
        }
        let family = source.isIPv6 ? "TCP6" : "TCP4"
        // Without the zone of a link-local address.
        let hosts = [source, destination].map { $0.host.prefix { $0 != "%" } }
        return Array("PROXY \(family) \(hosts[0]) \(hosts[1]) \(source.port) \(destination.port)\r\n".utf8)
    }
}
