import Testing
import UVFutures

struct TCPListenerTests {
    @Test("an address in use is refused", arguments: TestNetwork.allCases)
    func inUse(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener.localAddress.port
            let error = #expect(throws: SystemError.self) {
                try TCPListener(host: "127.0.0.1", port: port, on: loop)
            }
            #expect(error?.code == .addressInUse)
            #expect("\(error!)" == "listen EADDRINUSE 127.0.0.1:\(port): address already in use")
            #expect(throws: error!) { try TCPListener(host: "localhost", port: port, on: loop) }
            // A connection that it had leaves the address in TIME_WAIT, which does not keep it.
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: listener.accept())
            loop.closeAll(accepted, client)
            try loop.run(until: listener.close())
            try loop.run(until: TCPListener(host: "127.0.0.1", port: port, on: loop).close())
        }
    }

    @Test("an address of another machine is refused", arguments: TestNetwork.allCases)
    func notOurs(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let error = #expect(throws: SystemError.self) {
                try TCPListener(host: "192.0.2.1", port: 0, on: loop)
            }
            #expect(error?.code == .addressNotAvailable)
            try loop.run()
        }
    }

    @Test(
        "the address of all IPv6 interfaces takes connections over IPv4 too",
        .enabled(if: loopbackHosts.contains("::1")), arguments: TestNetwork.allCases)
    func bothFamilies(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: "::", port: 0, on: loop)
            for host in loopbackHosts {
                let port = listener.localAddress.port
                let client = TCPConnection.connect(host: host, port: port, on: loop)
                let (connected, accepted) = try loop.run(until: client.and(listener.accept()))
                #expect(accepted.localAddress?.host == (host == "::1" ? "::1" : "::ffff:127.0.0.1"))
                loop.closeAll(connected, accepted)
            }
        }
    }

    @Test("arguments out of range are refused", arguments: TestNetwork.allCases)
    func arguments(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.readHighWaterMark = 0
            let attempts = [
                { try TCPListener(host: "127.0.0.1", port: 65_536, on: loop) },
                { try TCPListener(host: "127.0.0.1", port: -1, on: loop) },
                {
                    try TCPListener(host: "127.0.0.1", port: 0, options: ListenOptions(backlog: -1), on: loop)
                },
                {
                    try TCPListener(
                        host: "127.0.0.1", port: 0, options: ListenOptions(backlog: .max), on: loop)
                },
                {
                    try TCPListener(
                        host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop)
                },
                { try TCPListener(host: "example.com", port: 0, on: loop) },
                { try TCPListener(host: "", port: 0, on: loop) },
            ]
            for attempt in attempts {
                let error = #expect(throws: FutureError.self) { try attempt() }
                if case .invalidArgument = error { continue }
                Issue.record("an argument was accepted, or refused as \(String(describing: error))")
            }
        }
    }
}
