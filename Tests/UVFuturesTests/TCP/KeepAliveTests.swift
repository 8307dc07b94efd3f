import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct KeepAliveTests {
    @Test("keep-alive and the user timeout are what the system is told, rounded up, and can be taken back")
    func settings() throws {
        try withLoop { loop in
            let listener = PlainSocket.bound(backlog: 1)
            let client = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop))
            let descriptor = try #require(descriptorOf(port: client.localAddress!.port))
            #expect(option(SO_KEEPALIVE, SOL_SOCKET, descriptor) == 0)
            try client.setKeepAlive(after: .seconds(60))
            #expect(option(SO_KEEPALIVE, SOL_SOCKET, descriptor) == 1)
            #expect(tcpOptions([TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT], descriptor) == [60, 1, 10])
            try client.setKeepAlive(after: .milliseconds(1), every: .milliseconds(2_001), probes: 127)
            #expect(tcpOptions([TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT], descriptor) == [1, 3, 127])
            try client.setKeepAlive(after: Duration(secondsComponent: 1, attosecondsComponent: 1))
            #expect(tcpOptions([TCP_KEEPIDLE], descriptor) == [2])
            try client.setKeepAlive(after: .seconds(32_767), every: .seconds(32_767), probes: 1)
            try client.setKeepAlive(after: nil)
            #expect(option(SO_KEEPALIVE, SOL_SOCKET, descriptor) == 0)
            try client.setUserTimeout(.microseconds(1_500_001))
            #expect(tcpOptions([TCP_USER_TIMEOUT], descriptor) == [1_501])
            try client.setUserTimeout(.seconds(86_400 * 24))
            try client.setUserTimeout(nil)
            #expect(tcpOptions([TCP_USER_TIMEOUT], descriptor) == [0])
            client.abort()
        }
    }

    @Test(
        "settings that make no sense are refused with what to give, and change nothing",
        arguments: TestNetwork.allCases)
    func refusals(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (client, server) = try loop.connectedPair()
            for duration in [Duration.zero, .seconds(-1), .seconds(32_768)] {
                let advice = "must be positive and at most 32767 seconds, not \(duration)"
                expect("the keep-alive time \(advice)") { try client.setKeepAlive(after: duration) }
                expect("the keep-alive interval \(advice)") {
                    try client.setKeepAlive(after: .seconds(1), every: duration)
                }
            }
            for probes in [0, -1, 128] {
                expect("probes must be from 1 to 127, not \(probes)") {
                    try client.setKeepAlive(after: .seconds(1), probes: probes)
                }
            }
            for limit in [Duration.zero, .seconds(-1), .seconds(86_400 * 25)] {
                expect("the user timeout must be positive and at most 24 days, not \(limit)") {
                    try client.setUserTimeout(limit)
                }
            }
            client.abort()
            #expect(throws: StreamError.connectionClosed) { try client.setKeepAlive(after: .seconds(1)) }
            #expect(throws: StreamError.connectionClosed) { try client.setUserTimeout(nil) }
            // What the peer has ended is not said to have been closed here.
            let reset = loop.failure(ofEnd: server) as? SystemError
            #expect(reset?.code == .connectionReset)
            #expect(throws: reset!) { try server.setKeepAlive(after: .seconds(1)) }
            #expect(throws: reset!) { try server.setUserTimeout(.seconds(1)) }
            loop.closeAll(client, server)
        }
    }

    @Test(
        "small writes are sent at once, whoever made the socket that the connection came to",
        arguments: [(true, .system), (false, .system), (false, .virtual)] as [(Bool, TestNetwork)])
    func noDelay(byOthers: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let made = PlainSocket.bound(backlog: 16)
            let listener =
                byOthers
                ? try TCPListener(adopting: dup(made.descriptor), on: loop)
                : try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            for _ in 0..<2 {
                let client = Peer(network, port: listener.localAddress.port, on: loop)
                let server = try loop.run(until: listener.accept())
                #expect(server.noDelay)
                if network == .system {
                    let descriptor = try server.release()
                    #expect(tcpOptions([TCP_NODELAY], descriptor) == [1])
                    Glibc.close(descriptor)
                } else {
                    server.abort()
                }
                withExtendedLifetime(client) {}
            }
            try loop.run(until: listener.close())
        }
    }

    private func expect(_ text: String, _ body: () throws -> Void) {
        #expect(throws: FutureError.invalidArgument(text)) { try body() }
    }

    /// The socket of this process with that port at its end.
    private func descriptorOf(port: Int) -> CInt? {
        (3..<CInt(4096)).first { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = unsafe withUnsafeMutablePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &length)
                }
            }
            return status == 0 && address.sin_family == AF_INET
                && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }

    private func tcpOptions(_ options: [CInt], _ descriptor: CInt) -> [CInt?] {
        options.map { option($0, CInt(IPPROTO_TCP), descriptor) }
    }

    private func option(_ option: CInt, _ level: CInt, _ descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, level, option, &value, &size) == 0 ? value : nil
    }
}
