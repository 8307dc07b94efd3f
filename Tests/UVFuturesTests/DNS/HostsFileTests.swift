import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct HostsFileTests {
    @Test("addresses and names are found, IPv6 first, without a difference of case")
    func find() throws {
        let text = """
            127.0.0.1 localhost
            # 10.0.0.9 not.there
            10.0.0.1\tServer.Example server  # the server
            fd00::1 server
            10.0.0.2 server
            nonsense server
            10.0.0.3
            10.0.0.2 server
            fe80::1%lo zoned
            """
        let file = HostsFile(Array(text.utf8))
        #expect(file.addresses(of: "SERVER").map(\.host) == ["fd00::1", "10.0.0.1", "10.0.0.2"])
        #expect(file.addresses(of: "server.example").map(\.host) == ["10.0.0.1"])
        #expect(file.addresses(of: "zoned").isEmpty)
        #expect(file.addresses(of: "not.there").isEmpty && file.addresses(of: "#").isEmpty)
        #expect(file.name(of: try SocketAddress(host: "10.0.0.1", port: 80)) == "Server.Example")
        #expect(file.name(of: try SocketAddress(host: "10.0.0.3", port: 80)) == nil)
    }

    @Test(
        "a file is read in time that its size is in proportion to",
        arguments: ["127.0.0.1 a\n", "127.0.0.1 ", "::1 a b c d e f\n", "\n", " ", "#", "a"])
    func growth(part: String) {
        expectLinear(from: 1024, upTo: 1 << 20) { size in
            let bytes = Array(String(repeating: part, count: size / part.utf8.count).utf8)
            return { _ = HostsFile(bytes) }
        }
    }
}
