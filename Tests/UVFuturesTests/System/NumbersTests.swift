import Foundation
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Each number is checked where it is given: ports, times, sizes, positions, masks and signals.
struct NumbersTests {
    /// Runs `body` with a virtual loop, whose system takes all that is not refused before.
    private func with(_ body: (EventLoop) throws -> Void) rethrows {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { _ in }
        defer { loop.shutdown() }
        try body(loop)
    }

    private let host = "127.0.0.1"

    @Test("ports have 16 bits, and those to connect to are not zero; a backlog has 31")
    func ports() {
        with { loop in
            expectRefused("SocketAddress", outside: 0...65_535) { try SocketAddress(host: host, port: $0) }
            expectRefused("addresses", outside: 0...65_535) { loop.addresses(of: host, port: $0) }
            expectRefused("resolve", outside: 0...65_535) {
                SystemResolver.shared.resolve(host, port: $0, on: loop)
            }
            expectRefused("connect", outside: 1...65_535) {
                TCPConnection.connect(host: host, port: $0, on: loop)
            }
            expectRefused("localPort", outside: 0...65_535) {
                TCPConnection.connect(host: host, port: 1, localPort: $0, on: loop)
            }
            expectRefused("UDPSocket.connect", outside: 1...65_535) {
                UDPSocket.connect(host: host, port: $0, on: loop)
            }
            expectRefused("UDPSocket.bind", outside: 0...65_535) {
                try UDPSocket.bind(host: host, port: $0, on: loop).close()
            }
            expectRefused("TCPListener", outside: 0...65_535) {
                try TCPListener(host: host, port: $0, on: loop).close()
            }
            expectRefused("the backlog of TCPListener", outside: 0...Int(Int32.max)) {
                try TCPListener(host: host, port: 0, options: ListenOptions(backlog: $0), on: loop).close()
            }
            expectRefused("the backlog of UnixListener", outside: 0...Int(Int32.max)) {
                try UnixListener(path: "@\($0)", options: ListenOptions(backlog: $0), on: loop).close()
            }
            for number in [Int.min, -1, 0, 1025, .max] {
                let error = #expect(throws: FutureError.self) {
                    try TCPServerGroup.listen(
                        host: host, port: 0, loops: number, on: loop, owning: { _ in })
                }
                #expect("\(error!)".contains("give 1 to 1024"))
            }
        }
    }

    @Test("times to wait are not negative, and may be longer than time lasts")
    func times() {
        with { loop in
            let server = TCPServer(on: loop) { _ in loop.succeeded() }
            expectRefused("TCPConnection.connect", outside: Duration.zero...) {
                TCPConnection.connect(host: host, port: 1, timeout: $0, on: loop)
            }
            expectRefused("UnixConnection.connect", outside: Duration.zero...) {
                UnixConnection.connect(path: "@none", timeout: $0, on: loop)
            }
            expectRefused("UDPSocket.connect", outside: Duration.zero...) {
                UDPSocket.connect(host: host, port: 1, timeout: $0, on: loop)
            }
            expectRefused("SystemResolver", outside: Duration.nanoseconds(1)...) {
                try SystemResolver(timeout: $0).resolve("localhost", port: 1, on: loop)
            }
            expectRefused("drain", outside: Duration.zero...) { server.drain(within: $0) }
            expectRefused("shutdown", outside: Duration.zero...) { server.shutdown(within: $0) }
            expectRefused("drain at a signal", outside: Duration.zero...) {
                server.drain(on: .terminate, within: $0)
            }
            let scope = FutureScope(on: loop)
            expectRefused("drain of a scope", outside: Duration.zero...) {
                scope.drain(on: .terminate, within: $0)
            }
            expectRefused("maxTimeToLive", outside: Duration.zero...) { try DNSResolver(maxTimeToLive: $0) }
            expectRefused("maxNegativeTimeToLive", outside: Duration.zero...) {
                try DNSResolver(maxNegativeTimeToLive: $0)
            }
            expectRefused("debounce", outside: Duration.zero...) {
                FileWatch.watch(tree: "/", debounce: $0, on: loop)
            }
        }
    }

    @Test("the times of a group of servers are not negative")
    func group() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let loop = try world.addHost("a").loop
        let group = try TCPServerGroup.listen(
            host: host, port: 0, loops: 1, on: loop, owning: { _ in })
        func ended<Value>(_ future: Future<Value>) throws -> Future<Value> {
            try world.run(for: .seconds(1))
            return future
        }
        expectRefused("drain at a signal", outside: Duration.zero...) {
            group.drain(on: .terminate, within: $0, for: loop)
        }
        expectRefused("drain", outside: Duration.zero...) { try ended(group.drain(within: $0, on: loop)) }
        expectRefused("shutdown", outside: Duration.zero...) {
            try ended(group.shutdown(within: $0, on: loop))
        }
    }

    @Test("options of a connection and of a socket are in the system's range")
    func options() throws {
        try withLoop { loop in
            let (client, server) = try loop.connectedPair()
            expectRefused("setKeepAlive", outside: Duration.nanoseconds(1)...(.seconds(32_767))) {
                try client.setKeepAlive(after: $0)
            }
            expectRefused("the interval of it", outside: Duration.nanoseconds(1)...(.seconds(32_767))) {
                try client.setKeepAlive(after: .seconds(1), every: $0)
            }
            expectRefused("the probes of it", outside: 1...127) {
                try client.setKeepAlive(after: .seconds(1), probes: $0)
            }
            expectRefused("setUserTimeout", outside: Duration.nanoseconds(1)...(.seconds(86_400 * 24))) {
                try client.setUserTimeout($0)
            }
            loop.closeAll(client, server)
            let socket = try UDPSocket.bind(host: host, port: 0, on: loop)
            expectRefused("setTimeToLive", outside: 1...255) { try socket.setTimeToLive($0) }
            expectRefused("setMulticastTimeToLive", outside: 0...255) {
                try socket.setMulticastTimeToLive($0)
            }
            expectRefused("setReceiveBufferSize", outside: 1...Int(Int32.max / 2)) {
                try socket.setReceiveBufferSize($0)
            }
            expectRefused("setSendBufferSize", outside: 1...Int(Int32.max / 2)) {
                try socket.setSendBufferSize($0)
            }
            try loop.run(until: socket.close())
            for descriptor in Int32.edges where descriptor < 0 || descriptor == .max {
                let socket = ActivatedSocket(descriptor: descriptor, name: "none")
                #expect(throws: (any Error).self) { try TCPConnection(adopting: descriptor, on: loop) }
                #expect(throws: (any Error).self) { try UnixConnection(adopting: descriptor, on: loop) }
                #expect(throws: (any Error).self) { try DescriptorStream(adopting: descriptor, on: loop) }
                #expect(throws: (any Error).self) { try UDPSocket(adopting: descriptor, on: loop) }
                #expect(throws: (any Error).self) { try UDPSocket(adopting: socket, on: loop) }
                #expect(throws: (any Error).self) { try TCPListener(adopting: descriptor, on: loop) }
                #expect(throws: (any Error).self) { try loop.watch(descriptor: descriptor) }
            }
        }
    }

    @Test("counts and limits are in their range")
    func limits() {
        with { loop in
            expectRefused("DNSResolver", outside: 1...) { try DNSResolver(maxConcurrent: $0) }
            expectRefused("maxCached", outside: 0...) { try DNSResolver(maxCached: $0) }
            expectRefused("SystemResolver", outside: 1...1024) { try SystemResolver(maxConcurrent: $0) }
            let server = TCPServer(on: loop) { _ in loop.succeeded() }
            expectRefused("maxConnections", outside: 1...) {
                try server.setAcceptLimits(AcceptLimits(maxConnections: $0))
            }
            expectRefused("lowWaterMark", outside: 0...2) {
                try server.setAcceptLimits(AcceptLimits(maxConnections: 3, lowWaterMark: $0))
            }
            expectRefused("perTurn", outside: 1...) {
                try server.setAcceptLimits(AcceptLimits(perTurn: $0))
            }
            func watch(_ change: (inout FileWatchLimits) -> Void) -> Future<FileWatch> {
                var limits = FileWatchLimits()
                change(&limits)
                return FileWatch.watch(tree: "/", limits: limits, on: loop)
            }
            expectRefused("maxDirectories", outside: 1...) { count in watch { $0.maxDirectories = count } }
            expectRefused("maxChanges", outside: 1...) { count in watch { $0.maxChanges = count } }
            func bind(_ change: (inout DatagramLimits) -> Void) throws -> Future<Void> {
                var limits = DatagramLimits()
                change(&limits)
                return try UDPSocket.bind(host: host, port: 0, limits: limits, on: loop).close()
            }
            expectRefused("maxSize", outside: 1...65_536) { size in try bind { $0.maxSize = size } }
            expectRefused("writeCap", outside: 1...) { size in try bind { $0.writeCap = size } }
            expectRefused("writeHighWaterMark", outside: 16_384...) { mark in
                try bind { $0.writeHighWaterMark = mark }
            }
            expectRefused("writeLowWaterMark", outside: 0...65_536) { mark in
                try bind { $0.writeLowWaterMark = mark }
            }
        }
    }

    @Test("whatever takes limits of a stream or a socket checks them")
    func streamLimits() throws {
        try with { loop in
            var limits = StreamLimits()
            limits.writeCap = -1
            var datagrams = DatagramLimits()
            datagrams.writeCap = -1
            var configuration = ChildProcess.Configuration("none")
            configuration.streamLimits = limits
            let directory = try loop.run(until: Directory.open("/", on: loop))
            let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
            for (name, make) in [
                ("makePipe", { try loop.makePipe(limits: limits) }),
                ("standardInput", { try loop.standardInput(limits: limits) }),
                ("standardOutput", { try loop.standardOutput(limits: limits) }),
                ("standardError", { try loop.standardError(limits: limits) }),
                ("File.stream", { try file.stream(limits: limits) }),
                ("File.follow", { File.follow("/a", limits: limits, on: loop) }),
                (
                    "TCPListener",
                    { try TCPListener(host: host, port: 0, options: ListenOptions(limits: limits), on: loop) }
                ),
                (
                    "UnixListener",
                    { try UnixListener(path: "@a", options: ListenOptions(limits: limits), on: loop) }
                ),
                ("TCPConnection", { TCPConnection.connect(host: host, port: 1, limits: limits, on: loop) }),
                ("UnixConnection", { UnixConnection.connect(path: "@b", limits: limits, on: loop) }),
                (
                    "TCPServer",
                    {
                        try TCPServer(on: loop) { $0.closed }.listen(
                            host: host, port: 0, options: ListenOptions(limits: limits))
                    }
                ),
                (
                    "UnixServer",
                    {
                        try UnixServer(on: loop) { $0.closed }.listen(
                            path: "@c", options: ListenOptions(limits: limits))
                    }
                ),
                ("ChildProcess", { try ChildProcess.start(configuration, on: loop) }),
                ("MemoryStream", { try MemoryStream.pair(on: loop, limits: limits) }),
                ("UDPSocket.bind", { try UDPSocket.bind(host: host, port: 0, limits: datagrams, on: loop) }),
                ("UDPSocket", { UDPSocket.connect(host: host, port: 1, limits: datagrams, on: loop) }),
                (
                    "UnixDatagramSocket",
                    { try UnixDatagramSocket.bind(path: "@d", limits: datagrams, on: loop) }
                ),
            ] as [(String, () throws -> Any)] {
                // As if the call had been given the number -1.
                expectRefused(name, outside: Int.max...) { number -> Any in
                    try number == .max ? () : make()
                }
            }
        }
    }

    @Test("a limit that has no room for the shortest PROXY header ends the process with a sentence")
    func proxyHeader() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ProxyHeaderDecoder(limit: 15)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("The limit of a PROXY header's size must be at least 16, not 15."))
    }
}
