import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Programs that the tests of worlds run.
enum Programs {
    /// Sends back what comes.
    static func echo(_ host: SimulatedHost) throws {
        let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        server.onConnectionError = { _ in }
    }

    /// Sends a line to an echo server, and completes with the answer.
    static func ask(_ host: SimulatedHost, _ server: String = "server", line: String = "hello") -> Future<
        Data?
    > {
        TCPConnection.connect(host: server, port: 7, on: host.loop).flatMap { connection in
            connection.write("\(line)\n")
            return connection.readLine().always { connection.close() }
        }
    }
}

extension World {
    /// The text of the error that `future` fails with.
    func failure<Value>(of future: Future<Value>) -> String {
        do {
            _ = try run(until: future)
            return "nothing fails"
        } catch {
            return "\(error)"
        }
    }
}

struct WorldTests {
    @Test("a server and a client on two hosts talk, by name, and it takes the time of the link")
    func talk() throws {
        let world = World(seed: 1)
        world.latency = .constant(.milliseconds(10))
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let answer = try world.run(until: Programs.ask(client))
        #expect(answer == Data("hello".utf8))
        // A name, the handshake, and the line there and back.
        #expect(world.now == .milliseconds(1 + 20 + 20))
    }

    @Test("a world keeps no lines of its trace until it is told to, and hashes them all")
    func unkeptTrace() {
        let world = World(seed: 1)
        defer { world.end() }
        #expect(!world.keepsTrace)
        let hash = world.traceHash
        world.note("one")
        #expect(world.trace.isEmpty && world.traceHash != hash)
        world.keepsTrace = true
        world.note("two")
        #expect(world.trace == ["0.000000 s  two"])
    }

    @Test("the connection knows the addresses of both hosts")
    func addresses() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server", addresses: ["192.0.2.1", "2001:db8::1"])
        let listener = try TCPListener(host: "::", port: 80, on: server.loop)
        let client = try world.addHost("client", addresses: ["192.0.2.7", "2001:db8::7"])
        for (host, peer) in [("192.0.2.1", "::ffff:192.0.2.7"), ("2001:db8::1", "2001:db8::7")] {
            let connecting = TCPConnection.connect(host: host, port: 80, on: client.loop)
            let accepted = try world.run(until: listener.accept())
            let connection = try world.run(until: connecting)
            #expect(accepted.peerAddress?.host == peer)
            #expect(accepted.peerAddress?.port == connection.localAddress?.port)
            #expect(
                connection.peerAddress?.description == (try SocketAddress(host: host, port: 80)).description)
        }
        let refused = TCPConnection.connect(host: "192.0.2.1", port: 81, on: client.loop)
        #expect(world.failure(of: refused) == "connect ECONNREFUSED 192.0.2.1:81: connection refused")
        let nobody = TCPConnection.connect(host: "192.0.2.99", port: 81, on: client.loop)
        #expect(world.failure(of: nobody) == "connect EHOSTUNREACH 192.0.2.99:81: host is unreachable")
    }

    @Test("what a partition has cut goes on when it is healed, and nothing is lost or doubled")
    func partition() throws {
        let world = World(seed: 2)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        world.partition("client", "server")
        for number in 0..<100 { connection.write("\(number)\n") }
        let last = connection.read(exactly: 290)
        try world.run(for: .seconds(30))
        #expect(!last.isCompleted)
        world.heal("client", "server")
        #expect(try world.run(until: last) == Data((0..<100).map { "\($0)\n" }.joined().utf8))
        #expect(server.loop.statistics.connections == 1)
        connection.close()
    }

    @Test("nobody learns of a partition that lasts, but by a time-out of the system")
    func longPartition() throws {
        let world = World(seed: 3)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        try connection.setUserTimeout(.seconds(20))
        world.partition(from: "client", to: "server")
        connection.write("x")
        let read = connection.read()
        let start = world.now
        #expect(world.failure(of: read).hasPrefix("read ETIMEDOUT"))
        #expect((.seconds(20)...(.seconds(21))).contains(world.now - start))
        let late = TCPConnection.connect(host: "10.0.0.1", port: 7, timeout: .seconds(300), on: client.loop)
        #expect(world.failure(of: late) == "connect ETIMEDOUT 10.0.0.1:7: connection timed out")
    }

    @Test("what is held arrives when it is released, at once")
    func hold() throws {
        let world = World(seed: 4)
        world.latency = .constant(.milliseconds(1))
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        world.hold("client", "server")
        connection.write("x")
        let answer = connection.read()
        try world.run(for: .seconds(1))
        #expect(!answer.isCompleted)
        world.release("client", "server")
        let start = world.now
        #expect(try world.run(until: answer) == Data("x".utf8))
        #expect(world.now - start == .milliseconds(2))
        connection.close()
    }

    @Test("a host that crashes falls silent; when it is restarted it resets what was before")
    func crash() throws {
        let world = World(seed: 5)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        server.crash()
        #expect(server.isDown)
        connection.write("x")
        let read = connection.read()
        try world.run(for: .seconds(60))
        #expect(!read.isCompleted)
        server.restart()
        #expect(server.startCount == 2)
        #expect(world.failure(of: read).hasPrefix("read ECONNRESET"))
        #expect(try world.run(until: Programs.ask(client)) == Data("hello".utf8))
    }

    @Test(
        "a restart that a program or a fault asks for while the world runs leaves the host up",
        arguments: 0..<20)
    func restartedWhileRunning(seed: UInt64) throws {
        let world = World(seed: seed)
        let host = try world.addHost("a", Programs.echo)
        world.schedule(after: .seconds(1)) { host.restart() }
        world.schedule(after: .seconds(2)) { host.crash() }
        world.schedule(after: .seconds(3)) { host.restart() }
        try world.run(for: .seconds(4))
        #expect(!host.isDown)
        #expect(host.startCount == 3)
    }

    @Test("a program that is killed has a system that tells its peers")
    func kill() throws {
        let world = World(seed: 6)
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        connection.write("x")
        #expect(try world.run(until: connection.read()) == Data("x".utf8))
        server.kill()
        #expect(try world.run(until: connection.readToEnd()) == Data())
        let refused = TCPConnection.connect(host: "server", port: 7, on: client.loop)
        #expect(
            world.failure(of: refused) == """
                connect to server port 7: connect ECONNREFUSED 10.0.0.1:7: connection refused; \
                connect ECONNREFUSED [fd00::1]:7: connection refused
                """)
        connection.close()
    }

    @Test("a paused program is late, and loses nothing")
    func pause() throws {
        let world = World(seed: 7)
        // What ticks on the server refers to the world.
        defer { world.end() }
        let server = try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        var ticks: [Duration] = []
        server.loop.repeat(every: .seconds(1)) { ticks.append(world.now) }.future.ignoreFailure()
        try world.run(for: .milliseconds(1500))
        server.pause()
        let answer = Programs.ask(client)
        try world.run(for: .seconds(5))
        #expect(!answer.isCompleted)
        #expect(ticks == [.seconds(1)])
        server.resume()
        #expect(try world.run(until: answer) == Data("hello".utf8))
        #expect(ticks == [.seconds(1), .milliseconds(6500)])
    }

    @Test("without settings, a message takes 200 µs to 2 ms, and a name a millisecond")
    func defaults() throws {
        let world = World(seed: 1)
        #expect(world.latency == .uniform(.microseconds(200)...(.milliseconds(2))))
        #expect(world.names.latency == .milliseconds(1) && world.names.timeToLive == .seconds(60))
        let host = try world.addHost("a")
        try world.addHost("b")
        #expect(world.link("a", "b").latency == world.latency && world.link("a", "b").bandwidth == nil)
        #expect(!host.isPaused && !host.isDown && host.startCount == 1 && host.workDuration == .zero)
        #expect(host.addresses == ["10.0.0.1", "fd00::1"])
        let faults = StreamFaults()
        #expect(faults.maximumDelay == .milliseconds(100) && faults.cutNotice == .seconds(30))
        #expect(World.Latency.constant(.zero) != world.latency)
    }
}
