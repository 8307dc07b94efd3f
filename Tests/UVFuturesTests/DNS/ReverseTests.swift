import Testing
import UVFutures

struct ReverseTests {
    @Test(
        "an address has a name under which its names are found",
        arguments: [
            ("192.0.2.1", "1.2.0.192.in-addr.arpa"),
            (
                "2001:db8::1",
                "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
            ),
        ])
    func names(address: String, name: String) throws {
        #expect("\(DNSName(reverse: try SocketAddress(host: address, port: 53)))" == name)
    }
}
