import Testing
import UVFutures

struct BytesTests {
    @Test("an address has its bytes in network order, and comes back from them")
    func roundTrip() throws {
        let four = try SocketAddress(host: "192.0.2.1", port: 53)
        #expect(four.networkBytes == [192, 0, 2, 1])
        let six = try SocketAddress(host: "2001:db8::1", port: 53)
        #expect(six.networkBytes == [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])
        for address in [four, six] {
            #expect(SocketAddress(networkBytes: address.networkBytes, port: 53) == address)
        }
        #expect(try SocketAddress(path: "/x").networkBytes.isEmpty)
    }
}
