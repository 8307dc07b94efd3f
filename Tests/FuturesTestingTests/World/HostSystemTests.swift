import FoundationEssentials
import FuturesTesting
import Synchronization
import TestSupport
import Testing
import UVFutures

/// What the system of a simulated host gives its programs, besides connections.
struct HostSystemTests {
    @Test("a signal goes to who waits for it, and ends the program if nobody does")
    func signals() throws {
        let world = World(seed: 1)
        var summaries: [String] = []
        let server = try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            server.drain(on: .terminate, within: .seconds(5)).whenSuccess { summaries.append("\($0)") }
            Future<Void>(on: host.loop) {
                for try await signal in host.loop.signals(.hangup) { summaries.append("\(signal.rawValue)") }
            }.ignoreFailure()
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        connection.write("x")
        _ = try world.run(until: connection.read())
        server.send(.hangup)
        try world.run(for: .seconds(1))
        #expect(summaries == ["1"])
        server.send(.terminate)
        #expect(try world.run(until: connection.readToEnd()) == Data())
        connection.close()
        try world.run(for: .seconds(6))
        #expect(summaries.count == 2)
        #expect(!server.isDown)
        server.send(.windowChange)
        #expect(!server.isDown)
        server.send(.terminate)
        #expect(server.isDown)
    }

    @Test("a host that is out of descriptors refuses sockets, and accepts again when it has some")
    func descriptors() throws {
        let world = World(seed: 1)
        var shortages: [String] = []
        let server = try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            server.onShortage = { shortages.append("\($0)") }
        }
        let client = try world.addHost("client")
        server.maxDescriptors = 1
        let answer = Programs.ask(client)
        try world.run(for: .seconds(3))
        #expect(shortages == ["accept EMFILE 0.0.0.0:7: too many open files"])
        #expect(!answer.isCompleted)
        server.maxDescriptors = 2
        #expect(try world.run(until: answer) == Data("hello".utf8))
        client.maxDescriptors = 0
        #expect(
            world.failure(of: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
                == "connect EMFILE 10.0.0.1:7: too many open files")
        #expect(throws: SystemError.self) { try TCPListener(host: "0.0.0.0", port: 0, on: client.loop) }
    }

    @Test("loops of one host share its ports, and paths are the host's own")
    func loops() throws {
        let world = World(seed: 1)
        let server = try world.addHost("server")
        let other = server.makeLoop()
        var counts = [0, 0]
        for (index, loop) in [server.loop, other].enumerated() {
            _ = try TCPServer.listen(
                host: "0.0.0.0", port: 7, options: ListenOptions(sharingPort: true), on: loop
            ) { connection in
                counts[index] += 1
                return connection.forEachChunk { chunk in connection.write(chunk) }
            }
        }
        let client = try world.addHost("client")
        for _ in 0..<40 { _ = try world.run(until: Programs.ask(client)) }
        #expect(counts.allSatisfy { $0 > 5 })
        let unix = try UnixListener(path: "/run/x", on: server.loop)
        let local = UnixConnection.connect(path: "/run/x", on: other)
        let accepted = try world.run(until: unix.accept())
        try world.run(until: local).write("x")
        #expect(try world.run(until: accepted.read()) == Data("x".utf8))
        #expect(
            world.failure(of: UnixConnection.connect(path: "/run/x", on: client.loop))
                == "connect ENOENT unix:/run/x: no such file or directory")
    }

    @Test("each interface of a host has its own listener of a port")
    func devices() throws {
        let world = World(seed: 1)
        let (server, client) = (try world.addHost("server"), try world.addHost("client"))
        var taken: [String: Int] = [:]
        for device in ["lo", "eth0"] {
            try TCPServer(
                on: server.loop,
                owning: { connection in
                    taken[device, default: 0] += 1
                    connection.abort()
                }
            ).listen(host: "0.0.0.0", port: 7, options: ListenOptions(device: device))
        }
        for loop in [server.loop, client.loop, client.loop] {
            try world.run(
                until: TCPConnection.connect(host: server.addresses[0], port: 7, on: loop).flatMap(\.closed)
                    .recover { _ in })
        }
        #expect(taken == ["lo": 1, "eth0": 2])
        _ = try TCPListener(host: "0.0.0.0", port: 8, options: ListenOptions(device: "lo"), on: server.loop)
        #expect(
            world.failure(of: TCPConnection.connect(host: server.addresses[0], port: 8, on: client.loop))
                .contains("ECONNREFUSED"))
    }

    @Test("work off the loop takes the time that it is told, and no thread")
    func work() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.workDuration = .seconds(3)
        let sum = RemoteContext.pool.execute(on: host.loop) { (0..<10).reduce(0, +) }
        #expect(try world.run(until: sum) == 45)
        #expect(world.now == .seconds(3))
    }

    @Test("an asynchronous program runs on the loop, waits there, and ends with the host")
    func asynchronous() throws {
        let world = World(seed: 1)
        var lines: [String] = []
        try world.addHost("server") { host in
            let listener = try TCPListener(host: "0.0.0.0", port: 7, on: host.loop)
            for try await connection in listener.connections {
                for try await line in connection.lines() {
                    lines.append(String(decoding: line, as: UTF8.self))
                    connection.write(line + Data("\n".utf8))
                }
                connection.close()
            }
        }
        let client = try world.addHost("client")
        #expect(try world.run(until: Programs.ask(client, line: "one")) == Data("one".utf8))
        world.host("server").restart()
        #expect(try world.run(until: Programs.ask(client, line: "two")) == Data("two".utf8))
        #expect(lines == ["one", "two"])
    }

    @Test("a program or a check that throws ends the run, with the seed, the time and who it was")
    func failures() throws {
        struct Broken: Error, CustomStringConvertible { let description = "it is broken" }
        let world = World(seed: 7)
        try world.addHost("a") { host in
            try await host.loop.sleep(for: .seconds(2)).value
            throw Broken()
        }
        #expect(throws: WorldFailure.self) { try world.run(for: .seconds(10)) }
        do {
            try world.run(for: .seconds(10))
        } catch {
            #expect("\(error)" == "seed 7, at 2.0 seconds: the program of host a failed: it is broken")
        }
        let other = World(seed: 8)
        other.check(every: .milliseconds(300)) { if other.now > .seconds(1) { throw Broken() } }
        do {
            try other.run(for: .seconds(10))
            Issue.record("nothing was thrown")
        } catch {
            #expect("\(error)" == "seed 8, at 1.2 seconds: a check failed: it is broken")
        }
    }

    @Test("the wall clock of a host is ahead of the world's by its offset and its drift")
    func wallClock() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        let start = host.loop.date
        #expect(start.timeIntervalSince1970 == 946_684_800)
        host.wallClockOffset = .seconds(90)
        #expect(host.loop.date.timeIntervalSince(start) == 90)
        host.wallClockOffset = .milliseconds(250)
        #expect(host.loop.date.timeIntervalSince1970 == 946_684_800.25)
        host.wallClockOffset = .seconds(90)
        host.wallClockDrift = 0.5
        try world.run(for: .seconds(10))
        #expect(host.loop.date.timeIntervalSince(start) == 105)
        (host.wallClockOffset, host.wallClockDrift) = (.seconds(-90), -0.5)
        #expect(host.loop.date.timeIntervalSince(start) == -85)
    }

    @Test("a scheduled change happens at its time, and its error ends the run")
    func scheduled() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        world.schedule(after: .seconds(3)) { host.crash() }
        try world.run(for: .milliseconds(2999))
        #expect(!host.isDown)
        try world.run(for: .milliseconds(1))
        #expect(host.isDown)
        world.schedule(after: .zero) { throw CancellationError() }
        #expect(throws: WorldFailure.self) { try world.run(for: .zero) }
    }

    @Test("waiting for what cannot come, or comes too late, ends")
    func waiting() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        #expect(throws: FutureError.stalled) { try world.run(until: host.loop.never(of: Void.self)) }
        let late = host.loop.sleep(for: .seconds(100))
        #expect(throws: FutureError.timedOut(after: .seconds(10))) {
            try world.run(until: late, within: .seconds(10))
        }
        #expect(world.now == .seconds(10))
    }

    @Test("work off the loop that a crash cuts off is not done")
    func lostWork() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.workDuration = .seconds(3)
        let runs = Atomic(0)
        let work = RemoteContext.pool.execute(on: host.loop) { _ = runs.add(1, ordering: .relaxed) }
        try world.run(for: .seconds(1))
        host.crash()
        #expect(throws: FutureError.shutDown) { try work.result?.get() }
        try world.run(for: .seconds(3))
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test("bytes that came one after another while a program stood still are read together")
    func readLate() throws {
        let world = World(seed: 1)
        var chunks: [Data] = []
        let server = try world.addHost("server") { host in
            _ = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                connection.forEachChunk { chunk in chunks.append(chunk) }
            }
        }
        let client = try world.addHost("client")
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
        try world.run(for: .seconds(1))
        server.pause()
        for text in ["one", "two", "three"] {
            connection.write(text)
            try world.run(for: .seconds(1))
        }
        #expect(chunks.isEmpty)
        server.resume()
        try world.run(for: .zero)
        #expect(chunks == [Data("onetwothree".utf8)])
        connection.close()
    }

    @Test("a signal that came twice while a program stood still is told once to who waits for one")
    func signalledTwice() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        let signal = host.loop.signal(.hangup)
        host.pause()
        for _ in 0..<2 { host.send(.hangup) }
        try world.run(for: .seconds(1))
        #expect(!signal.isCompleted)
        host.resume()
        try world.run(until: signal)
        #expect(!host.isDown)
        host.send(.hangup)
        #expect(host.isDown)
    }

    @Test("of two programs that fail, the first ends the run")
    func firstFailure() throws {
        struct Broken: Error {}
        let world = World(seed: 1)
        for name in ["a", "b"] { try world.addHost(name) { _ in throw Broken() } }
        let failure = #expect(throws: WorldFailure.self) { try world.run(for: .zero) }
        #expect(failure?.subject == "the program of host a")
    }
}
