import Testing
import UVFutures

struct SocketAddressTests {
    @Test(
        "addresses print as one writes them",
        arguments: [
            ("127.0.0.1", 7007, "127.0.0.1:7007"), ("0.0.0.0", 0, "0.0.0.0:0"),
            ("9.10.99.100", 1, "9.10.99.100:1"), ("255.254.200.199", 1, "255.254.200.199:1"),
            ("::1", 7007, "[::1]:7007"),
            ("0:0:0:0:0:0:0:1", 65_535, "[::1]:65535"), ("2001:DB8::A", 1, "[2001:db8::a]:1"),
            ("::ffff:10.0.0.1", 2, "[::ffff:10.0.0.1]:2"), ("fe80::1%lo", 3, "[fe80::1%lo]:3"),
        ])
    func prints(_ host: String, _ port: Int, _ text: String) throws {
        let address = try SocketAddress(host: host, port: port)
        #expect("\(address)" == text)
        #expect(address.port == port)
        #expect(address.isIPv6 == host.contains(":"))
        #expect(try SocketAddress(host: address.host, port: port) == address)
    }

    @Test(
        "what is no numeric address is refused",
        arguments: [
            "", "localhost", "example.com", "300.0.0.1", "1.2.3", "127.0.0.1\0", "127.0.0.1 ", ":::", "[::1]",
            "1.2.3.4.5", "::1\0x",
        ])
    func refuses(_ host: String) {
        #expect(throws: FutureError.invalidArgument("host \"\(host)\" is not a numeric IPv4 or IPv6 address"))
        {
            try SocketAddress(host: host, port: 1)
        }
    }

    @Test("a port out of range is refused with its value", arguments: [-1, 65_536, Int.max, Int.min])
    func refusesPort(_ port: Int) {
        #expect(throws: FutureError.invalidArgument("port \(port) is out of range; give 0 to 65535")) {
            try SocketAddress(host: "::1", port: port)
        }
    }
}
