import FuturesTesting
import Testing
import UVFutures

struct BuffersTests {
    @Test("Linux doubles what is asked for, within its limits", arguments: TestNetwork.allCases)
    func doubled(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try server.setReceiveBufferSize(20_000)
            try server.setSendBufferSize(30_000)
            #expect(try server.receiveBufferSize == 40_000)
            #expect(try server.sendBufferSize == 60_000)
            // The other socket has its own.
            #expect(try client.receiveBufferSize > 60_000)
            try server.setReceiveBufferSize(1)
            #expect(try server.receiveBufferSize > 2000)
            let most = Int(CInt.max / 2)
            try server.setReceiveBufferSize(most)
            #expect(try server.receiveBufferSize < most)
        }
    }

    @Test("sizes that make no sense are refused, and so are closed sockets", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            for size in [0, -1, Int(CInt.max), .max] {
                let text = "a buffer of \(size) bytes is out of range; give 1 to 1073741823"
                #expect(complaint { try server.setReceiveBufferSize(size) } == text)
                #expect(complaint { try server.setSendBufferSize(size) } == text)
            }
            try loop.run(until: server.close())
            let address = server.localAddress
            #expect(
                complaint { try server.setSendBufferSize(1) }
                    == "set option EBADF \(address): bad file descriptor")
            #expect(
                complaint { _ = try server.sendBufferSize }
                    == "read option EBADF \(address): bad file descriptor")
        }
    }
}
