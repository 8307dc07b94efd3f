import Futures
import FuturesTesting
import Testing

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
            """
        let file = HostsFile(Array(text.utf8))
        #expect(file.addresses(of: "SERVER").map(\.host) == ["fd00::1", "10.0.0.1", "10.0.0.2"])
        #expect(file.addresses(of: "server.example").map(\.host) == ["10.0.0.1"])
        #expect(file.addresses(of: "not.there").isEmpty && file.addresses(of: "#").isEmpty)
        #expect(file.name(of: try SocketAddress(host: "10.0.0.1", port: 80)) == "Server.Example")
        #expect(file.name(of: try SocketAddress(host: "10.0.0.3", port: 80)) == nil)
    }
}
