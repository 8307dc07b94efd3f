import CHeap
import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
import Testing
import UVFutures

/// In processes of their own, since other tests use the heap, too.
@Suite(.enabled(if: !isSanitized))
struct TLSMemoryTests {
    /// Our side of the connections, and the program that has the other side: it prints its port, or takes ours, and holds
    /// connections until its input ends.
    enum Side: String, CaseIterable, Codable, CustomTestStringConvertible {
        case server, client

        var testDescription: String { rawValue }

        var peer: String {
            let body =
                self == .server
                ? """
                context = ssl.create_default_context(cafile="ca.pem")
                def connect():
                    plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                    return context.wrap_socket(plain, server_hostname="localhost")
                """
                : """
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain("server.pem", "server.key")
                listener = socket.create_server(("127.0.0.1", 0))
                print(listener.getsockname()[1], flush=True)
                def connect():
                    return context.wrap_socket(listener.accept()[0], server_side=True)
                """
            return "import socket, ssl, sys\n\(body)\n"
                + """
                held = []
                for line in sys.stdin:
                    for number in range(int(line)):
                        held.append(connect())
                        held[-1].sendall(b"hello\\n")
                        held[-1].recv(100)
                """
        }
    }

    @Test("an idle connection takes 20 KiB at most, on either side", arguments: Side.allCases)
    func idle(side: Side) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [side] in
            try withDirectory { directory, loop in
                var held: [TLSConnection] = []
                func greet(_ connection: TLSConnection) -> Future<Void> {
                    connection.readLine().flatMap { _ in connection.write("hello\n") }
                        .map { _ in held.append(connection) }
                }
                let server = try TLSServer.listen(
                    host: "127.0.0.1", port: 0, context: try loop.server(),
                    owning: { greet($0).ignoreFailure() })
                let context = try loop.client()
                var program = ChildProcess.Configuration(
                    "/usr/bin/env", "python3", "-c", side.peer, "\(server.localAddress.port)")
                program.workingDirectory = directory.path()
                program.standardInput = .stream
                program.standardOutput = .stream
                let peer = try ChildProcess.start(program, on: loop)
                let (input, output) = (try #require(peer.standardInput), try #require(peer.standardOutput))
                let port = side == .server ? nil : try loop.run(until: output.readLine())
                func connect(_ count: Int) throws {
                    let wanted = held.count + count
                    input.write("\(count)\n")
                    while held.count < wanted {
                        guard let port else {
                            try loop.run(until: loop.sleep(for: .milliseconds(1)))
                            continue
                        }
                        try loop.run(
                            until: TLSConnection.connect(
                                host: "localhost", port: Int(String(decoding: port, as: UTF8.self))!,
                                context: context
                            )
                            .flatMap(greet))
                    }
                }
                try connect(20)
                let before = heapInUse()
                try connect(200)
                print("bytes", (heapInUse() - before) / 200)
                for connection in held { connection.abort() }
                _ = try loop.run(until: server.shutdown(within: .zero))
                _ = try loop.run(until: peer.end(within: .zero))
            }
        }
        let size = try bytes(of: result)
        // The floor of OpenSSL is 15.8 KiB. Buffers that are kept would be 34 KiB more.
        #expect(size < 20 * 1024)
    }

    @Test("a message that is kept takes the memory of its bytes, and not of the block of its decryption")
    func keptMessages() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let loop = EventLoop.virtual()
            let pair = try loop.pair(loop.server(), loop.client())
            var kept: [Data] = []
            func exchange(_ count: Int) throws {
                for _ in 0..<count {
                    pair.server.write(Data(count: 100))
                    kept.append(try loop.run(until: pair.client.read()))
                }
            }
            try exchange(20)
            kept.reserveCapacity(1000)
            let before = heapInUse()
            try exchange(500)
            print("bytes", (heapInUse() - before) / 500)
            withExtendedLifetime(kept) {}
        }
        #expect(try bytes(of: result) < 1000)
    }

    @Test("connections and handshakes that end in any way leave nothing of OpenSSL's on the heap")
    func leaks() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let loop = EventLoop.virtual()
            let (server, client) = try (loop.server(), loop.client())
            var strict = TLSServerConfiguration.usual
            strict.clientCertificates = .required
            strict.chooseContext = { _ in loop.sleep(for: .milliseconds(1)).map { nil } }
            let refusing = try loop.server(strict)
            func round(_ number: Int) throws {
                let pair = try loop.pair(server, client)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                pair.client.abort()
                _ = loop.failure(of: pair.server.read())
                _ = try loop.failures(refusing, client)
                _ = try loop.failures(server, client, host: "other.org")
                let relay = try Relay(on: loop)
                relay.limits = (number * 37 % 1000, .max)
                let future = relay.far.startTLS(server: server)
                let other = relay.near.startTLS(client: client, host: "localhost")
                _ = loop.failure(of: future)
                other.cancel()
                other.ignoreFailure().whenSuccess { $0.abort() }
                relay.end()
                try refusing.reload()
                loop.advance(by: .seconds(60))
            }
            keepNoBacktraces()
            for number in 0..<120 { try round(number) }
            let before = heapInUse()
            for number in 0..<240 { try round(number) }
            let growth = heapInUse() - before
            print("bytes", growth)
            loop.shutdown()
        }
        let growth = try bytes(of: result)
        // Caches of malloc's count as in use, up to 20 KiB. A connection, a session, a context or a certificate of OpenSSL's in
        // each round would be more.
        #expect(growth < 120 * 1024)
    }

    @Test("handshakes leave the heap where it was", arguments: [TLSVersion.tls12, .tls13])
    func handshakes(version: TLSVersion) async throws {
        let (number, rounds) = (version.rawValue, isSoaking ? 10_000 : 500)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [number = number as Int, rounds = rounds as Int] in
            let loop = EventLoop.virtual()
            var configuration = TLSServerConfiguration.usual
            let version = TLSVersion(rawValue: number)!
            configuration.parameters.versions = version...version
            var other = TLSClientConfiguration.usual
            other.resumesSessions = false
            other.trust.decideLater = { _, isTrusted in loop.sleep(for: .milliseconds(1)).map { isTrusted } }
            let (server, clients) = try (loop.server(configuration), [loop.client(), loop.client(other)])
            func round() throws {
                // Resumed and full handshakes, and those that are suspended.
                for client in clients {
                    let pair = try loop.pair(server, client)
                    pair.server.write("hello\n")
                    _ = try loop.run(until: pair.client.readLine())
                    try loop.close(pair)
                }
                loop.advance(by: .seconds(60))
            }
            keepNoBacktraces()
            for _ in 0..<100 { try round() }
            let before = heapInUse()
            for _ in 0..<rounds { try round() }
            print("bytes", heapInUse() - before)
            loop.shutdown()
        }
        // Caches of malloc's count as in use, up to 230 KiB. Without them, by GLIBC_TUNABLES=glibc.malloc.tcache_count=0, there
        // are 112 bytes, however many rounds there are.
        let growth = try bytes(of: result)
        #expect(growth < 256 * 1024)
    }

    /// Handshakes over real sockets, each of which the client leaves after some of its bytes, by FIN or by a reset.
    @Test("handshakes that are cut somewhere leave no descriptor, and nothing on the heap")
    func cutHandshakes() async throws {
        let count = isSoaking ? 10_000 : 200
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [count = count as Int] in
            let loop = try EventLoop()
            var configuration = TLSServerConfiguration.usual
            configuration.identity = TLSIdentity(certificates: Authority.server.file) { request in
                loop.sleep(for: .milliseconds(1)).map { Authority.server.sign(request) }
            }
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(configuration), owning: { $0.abort() })
            var random = SeededGenerator()
            let context = try loop.client()
            let greeting = try greeting(of: context)
            func round() throws {
                let plain = try loop.run(
                    until: TCPConnection.connect(
                        host: "127.0.0.1", port: server.localAddress.port, on: loop))
                if random.below(2) == 0 {
                    plain.write(greeting.prefix(random.below(greeting.count)))
                    if random.below(2) == 0 { plain.abort() } else { plain.close() }
                } else {
                    let client = plain.startTLS(client: context, host: "localhost")
                    for _ in 0..<random.below(12) { try loop.run(until: loop.sleep(for: .zero)) }
                    if random.below(2) == 0 { client.cancel() } else { plain.abort() }
                    client.ignoreFailure().whenSuccess { $0.abort() }
                }
            }
            func quiet() throws {
                let end = loop.now.advanced(by: .seconds(30))
                while server.activeConnections > 0, loop.now < end {
                    try loop.run(until: loop.sleep(for: .milliseconds(1)))
                }
            }
            keepNoBacktraces()
            for _ in 0..<100 { try round() }
            try quiet()
            let (before, open) = (heapInUse(), try openSockets())
            for _ in 0..<count { try round() }
            try quiet()
            print("bytes", heapInUse() - before)
            print("left", server.activeConnections + server.handshakes.underWay, try openSockets() - open)
            print("failed", server.handshakes.failed.values.reduce(server.handshakes.otherwiseFailed, +))
            _ = try loop.run(until: server.shutdown(within: .zero))
            loop.shutdown()
        }
        let growth = try bytes(of: result)
        #expect(growth < count * 1024)
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("left 0 0\n"), "\(output)")
        #expect(!output.contains("failed 0\n"))
    }
}

/// The number that the test has printed.
private func bytes(of result: ExitTest.Result?) throws -> Int {
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let line = output.split(separator: "\n").first { $0.hasPrefix("bytes ") }
    return try #require(line.flatMap { Int($0.dropFirst(6)) }, "\(output)")
}

/// Testing keeps a backtrace of each error that is thrown, in a hook of the runtime.
private func keepNoBacktraces() {
    let hook = unsafe dlsym(nil, "_swift_willThrow")!.assumingMemoryBound(to: Int.self)
    unsafe hook.pointee = 0
    let typed = unsafe dlsym(nil, "_swift_willThrowTypedImpl")!.assumingMemoryBound(to: Int.self)
    unsafe typed.pointee = 0
}

/// The number of sockets. Dispatch opens descriptors of other kinds when it likes.
private func openSockets() throws -> Int {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return descriptors.count {
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        return target?.hasPrefix("socket:") == true
    }
}

private func heapInUse() -> Int {
    let heap = mallinfo2()
    return Int(heap.uordblks + heap.hblkhd)
}
