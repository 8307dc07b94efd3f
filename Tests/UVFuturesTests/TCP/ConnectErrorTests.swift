import Testing
import UVFutures

struct ConnectErrorTests {
    @Test("of thousands of addresses that have failed eight are named")
    func manyAddresses() {
        let errors = (1...3000).map { port in
            SystemError(
                .connectionRefused, "connect", local: nil,
                peer: try! SocketAddress(host: "192.0.2.1", port: port))
        }
        let text = "\(ConnectError(host: "example.com", port: 80, errors: errors))"
        #expect(text.hasPrefix("connect to example.com port 80: connect ECONNREFUSED 192.0.2.1:1: "))
        #expect(text.hasSuffix("192.0.2.1:8: connection refused; and 2992 more"))
        #expect("\(AggregateError(errors))".hasSuffix("; and 2992 more"))
        #expect(
            "\(AggregateError(Array(errors.prefix(2))))"
                == "2 errors: connect ECONNREFUSED 192.0.2.1:1: connection refused; "
                + "connect ECONNREFUSED 192.0.2.1:2: connection refused")
    }
}
