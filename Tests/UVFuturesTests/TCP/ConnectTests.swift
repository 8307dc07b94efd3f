import Glibc
import TestSupport
import Testing
import UVFutures

struct ConnectTests {
    @Test("what nobody can connect to is told from the settings alone")
    func target() throws {
        for (host, port) in [("example.com", 1), ("::1", 65_535), ("localhost", 80)] {
            try TCPConnection.checkTarget(host: host, port: port)
        }
        func refusal(_ host: String, _ port: Int) -> String? {
            complaint { try TCPConnection.checkTarget(host: host, port: port) }
        }
        #expect(refusal("a", 0) == "cannot connect to port 0; give a port from 1 to 65535")
        #expect(refusal("a", 65_536) == "port 65536 is out of range; give 0 to 65535")
        #expect(refusal("", 1) == "host \"\" is empty; give a name or a numeric address")
    }

    @Test(
        "a connection that nobody accepts is refused, with the operation and both addresses",
        arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (port, keeping:socket) = network.unusedPort()
            let error = loop.failure(of: TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
            #expect((error as? SystemError)?.code == .connectionRefused)
            #expect("\(error!)" == "connect ECONNREFUSED 127.0.0.1:\(port): connection refused")
            withExtendedLifetime(socket) {}
            try loop.run()
        }
    }

    @Test("connecting gives up when the time is up", arguments: [0, 30], TestNetwork.allCases)
    func timesOut(milliseconds: Int, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try HangingListener(network, on: loop)
            let before = loop.statistics
            let start = loop.now
            let connecting = TCPConnection.connect(
                host: "127.0.0.1", port: listener.port, timeout: .milliseconds(milliseconds), on: loop)
            let error = loop.failure(of: connecting)
            #expect("\(error!)" == "connect ETIMEDOUT 127.0.0.1:\(listener.port): connection timed out")
            #expect(start.duration(to: loop.now) >= .milliseconds(milliseconds))
            try loop.run()
            #expect(loop.statistics.handles == before.handles)
        }
    }

    @Test("without a time limit of its own, connecting takes ten seconds at most")
    func defaultTimeout() throws {
        try withLoop { loop in
            let listener = try HangingListener(.system, on: loop)
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            let left = try #require(loop.pollTimeout)
            #expect(left > .seconds(5) && left <= .seconds(10))
            connecting.cancel()
        }
    }

    @Test("a server does not resolve names, and says so", arguments: TestNetwork.allCases)
    func serverName(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let sentence = FutureError.invalidArgument(
                #"host "example.com" is not a numeric IPv4 or IPv6 address; a server listens on such an "#
                    + "address or localhost")
            #expect(throws: sentence) { try TCPListener(host: "example.com", port: 0, on: loop) }
            #expect(throws: sentence) {
                try TCPServer.listen(host: "example.com", port: 0, on: loop) { $0.forEachChunk { _ in } }
            }
        }
    }

    @Test("cancelling gives up at once", arguments: TestNetwork.allCases)
    func cancelled(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try HangingListener(network, on: loop)
            let before = loop.statistics
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            #expect(!connecting.isCompleted)
            #expect(connecting.cancel())
            #expect(throws: CancellationError.self) { try connecting.result?.get() }
            try loop.run()
            #expect(loop.statistics.handles == before.handles)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("the timeout combinator closes the socket as well", arguments: TestNetwork.allCases)
    func combinator(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try HangingListener(network, on: loop)
            let before = loop.statistics
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
                .timeout(after: .milliseconds(1))
            #expect(loop.failure(of: connecting) as? FutureError == .timedOut(after: .milliseconds(1)))
            try loop.run()
            #expect(loop.statistics.handles == before.handles)
        }
    }

    @Test("ten thousand cancelled attempts leave no descriptor", arguments: TestNetwork.allCases)
    func leavesNoDescriptor(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop in
                let listener = try HangingListener(network, on: loop)
                TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop).cancel()
                try loop.run()
                let before = (openSockets(), loop.statistics.handles)
                for _ in 0..<100 / slowShare {
                    let attempts = (0..<100).map { _ in
                        TCPConnection.connect(host: "127.0.0.1", port: listener.port, on: loop)
                    }
                    try loop.run(until: loop.sleep(for: .zero))
                    for attempt in attempts { #expect(attempt.cancel(), "\(attempt)") }
                }
                try loop.run()
                #expect((openSockets(), loop.statistics.handles) == before)
            }
        }
    }

    @Test(
        "localhost is either loopback address, the second if nobody listens on the first",
        arguments: TestNetwork.allCases)
    func localhost(network: TestNetwork) throws {
        try withLoop(network) { loop in
            for host in loopbackHosts {
                let server = try TCPServer.listen(host: host, port: 0, on: loop) { $0.forEachChunk { _ in } }
                let port = server.localAddress.port
                let client = try loop.run(
                    until: TCPConnection.connect(host: "localhost", port: port, on: loop))
                #expect(client.peerAddress == server.localAddress)
                loop.closeAll(client)
                server.close()
            }
            let (port, keeping:socket) = network.unusedPort()
            let error = loop.failure(of: TCPConnection.connect(host: "localhost", port: port, on: loop))
            withExtendedLifetime(socket) {}
            let failed = try #require(error as? ConnectError)
            #expect(failed.errors.map { $0.peerAddress?.host } == ["127.0.0.1", "::1"])
            #expect(failed.errors[0].code == .connectionRefused)
            #expect(
                "\(failed)".hasPrefix(
                    """
                    connect to localhost port \(port): connect ECONNREFUSED 127.0.0.1:\(port): connection \
                    refused; connect
                    """), "\(failed)")
        }
    }

    @Test(
        "a name is resolved by the loop's resolver, or by the call's, and its addresses are tried",
        arguments: TestNetwork.allCases)
    func name(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
                $0.forEachChunk { _ in }
            }
            let port = server.localAddress.port
            #expect(loop.resolver is SystemResolver)
            loop.resolver = FixedResolver(["127.0.0.2", "127.0.0.1"])
            for resolver in [nil, FixedResolver(["127.0.0.1"])] {
                let client = try loop.run(
                    until: TCPConnection.connect(host: "some.name", port: port, resolver: resolver, on: loop))
                #expect(client.peerAddress == server.localAddress)
                loop.closeAll(client)
            }
            let none = TCPConnection.connect(
                host: "some.name", port: port, resolver: FixedResolver([]), on: loop)
            #expect(loop.failure(of: none) as? ResolutionError == .init(name: "some.name", code: .noAddress))
            server.close()
            let refused = loop.failure(of: TCPConnection.connect(host: "some.name", port: port, on: loop))
            #expect(
                "\(refused!)" == """
                    connect to some.name port \(port): \
                    connect ECONNREFUSED 127.0.0.2:\(port): connection refused; \
                    connect ECONNREFUSED 127.0.0.1:\(port): connection refused
                    """)
        }
    }

    @Test(
        "a name that is not resolved in time is given up, and so is one when the future is cancelled",
        arguments: TestNetwork.allCases)
    func unresolved(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let resolver = SilentResolver(on: loop)
            let late = TCPConnection.connect(
                host: "some.name", port: 1, timeout: .milliseconds(1), resolver: resolver, on: loop)
            let error = loop.failure(of: late)
            #expect(error as? ResolutionError == ResolutionError(name: "some.name", code: .timedOut))
            #expect(resolver.promises[0].future.isCompleted)
            let cancelled = TCPConnection.connect(host: "some.name", port: 1, resolver: resolver, on: loop)
            #expect(cancelled.cancel())
            #expect(resolver.promises[1].future.isCompleted)
            let failed = TCPConnection.connect(host: "some.name", port: 1, resolver: resolver, on: loop)
            resolver.promises[2].fail(Mistake())
            #expect(loop.failure(of: failed) is Mistake)
            try loop.run()
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("while one address hangs, the next is tried and taken", arguments: TestNetwork.allCases)
    func happyEyeballs(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try HangingListener(network, on: loop)
            let before = loop.statistics
            let server = try TCPServer.listen(host: "127.0.0.2", port: listener.port, on: loop) {
                $0.forEachChunk { _ in }
            }
            let start = loop.now
            let resolver = FixedResolver(["127.0.0.1", "127.0.0.2"])
            let client = try loop.run(
                until: TCPConnection.connect(
                    host: "some.name", port: listener.port, resolver: resolver, on: loop))
            #expect(client.peerAddress == server.localAddress)
            #expect(start.duration(to: loop.now) >= .milliseconds(250))
            loop.closeAll(client)
            server.close()
            try loop.run()
            #expect(loop.statistics.handles == before.handles)
            // Of the two that hang, each says so.
            let late = TCPConnection.connect(
                host: "some.name", port: listener.port, timeout: .milliseconds(300),
                resolver: FixedResolver(["127.0.0.1"]), on: loop)
            let error = loop.failure(of: late) as? ConnectError
            #expect(error?.errors.map(\.code) == [.timedOut])
            #expect(error?.errors.first?.localAddress?.host == "127.0.0.1")
        }
    }

    @Test("cancelling while several attempts pend closes them all", arguments: TestNetwork.allCases)
    func cancelledRace(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try HangingListener(network, on: loop)
            let before = loop.statistics
            let connecting = TCPConnection.connect(
                host: "some.name", port: listener.port,
                resolver: FixedResolver(["127.0.0.1", "::ffff:127.0.0.1"]), on: loop)
            while loop.statistics.connections < before.connections + 2 {
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
            }
            #expect(connecting.cancel())
            try loop.run()
            #expect(loop.statistics.handles == before.handles)
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("a connection comes from the address and the port that are given", arguments: TestNetwork.allCases)
    func local(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
                $0.forEachChunk { _ in }
            }
            let port = server.localAddress.port
            func connect(_ localHost: String?, _ localPort: Int) -> Future<TCPConnection> {
                TCPConnection.connect(
                    host: "127.0.0.1", port: port, localHost: localHost, localPort: localPort, on: loop)
            }
            let free = network.unusedPort().0
            let first = try loop.run(until: connect("127.0.0.3", 0))
            #expect(first.localAddress?.host == "127.0.0.3")
            let second = try loop.run(until: connect(nil, free))
            #expect(second.localAddress == (try SocketAddress(host: "127.0.0.1", port: free)))
            loop.closeAll(first, second)
            let taken = try HangingListener(network, on: loop)
            let errors = [
                connect("127.0.0.1", taken.port), connect("192.0.2.77", 0), connect("::1", 0),
            ].map { loop.failure(of: $0)! }
            #expect("\(errors[0])" == "bind EADDRINUSE 127.0.0.1:\(taken.port): address already in use")
            #expect("\(errors[1])" == "bind EADDRNOTAVAIL 192.0.2.77:0: address not available")
            #expect((errors[2] as? SystemError)?.code == .addressFamilyNotSupported)
            #expect((errors[2] as? SystemError)?.localAddress?.host == "::1")
            #expect(
                loop.failure(of: connect("a.name", 0)) as? FutureError
                    == .invalidArgument(#"host "a.name" is not a numeric IPv4 or IPv6 address"#))
            #expect(
                loop.failure(of: connect(nil, 65_536)) as? FutureError
                    == .invalidArgument("port 65536 is out of range; give 0 to 65535"))
            let both = TCPConnection.connect(
                host: "localhost", port: port, localHost: "127.0.0.3", on: loop)
            let third = try loop.run(until: both)
            #expect(third.localAddress?.host == "127.0.0.3")
            loop.closeAll(third)
            server.close()
        }
    }

    @Test(
        "a port that is given without an address is one of the peer's family", arguments: loopbackHosts,
        TestNetwork.allCases)
    func localPort(host: String, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(host: host, port: 0, on: loop)
            let free = network.unusedPort().0
            let client = try loop.run(
                until: TCPConnection.connect(
                    host: host, port: listener.localAddress.port, localPort: free, on: loop))
            #expect(client.localAddress == (try SocketAddress(host: host, port: free)))
            client.abort()
            try loop.run(until: listener.close())
        }
    }

    @Test("arguments out of range are refused", arguments: TestNetwork.allCases)
    func arguments(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.writeCap = -1
            let refused = [
                TCPConnection.connect(host: "127.0.0.1", port: -1, on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 65_536, on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 1, timeout: .seconds(-1), on: loop),
                TCPConnection.connect(host: "127.0.0.1", port: 1, limits: limits, on: loop),
            ]
            for future in refused {
                guard case .invalidArgument = loop.failure(of: future) as? FutureError else {
                    Issue.record("\(future)")
                    continue
                }
            }
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("a connection that nobody keeps is aborted", arguments: TestNetwork.allCases)
    func dropped(network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            _ = TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
            let server = try loop.run(until: listener.accept())
            #expect((loop.failure(of: server.read()) as? SystemError)?.code == .connectionReset)
            #expect(loop.statistics.connections == 0)
        }
    }
}

/// Knows one answer.
struct FixedResolver: NameResolver {
    let hosts: [String]

    init(_ hosts: [String]) { self.hosts = hosts }

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        loop.submit { try hosts.map { try SocketAddress(host: $0, port: port) } }
    }
}

/// Answers when the test does.
final class SilentResolver: NameResolver {
    private let loop: EventLoop
    var promises: [Promise<[SocketAddress]>] = []

    init(on loop: EventLoop) { self.loop = loop }

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        #expect(loop == self.loop)
        promises.append(loop.makePromise())
        return promises.last!.future
    }
}

private struct Mistake: Error {}
