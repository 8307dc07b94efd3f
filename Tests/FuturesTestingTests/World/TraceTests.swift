import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct TraceTests {
    private func told(_ body: (World) throws -> Void) throws -> [String] {
        let world = World(seed: 1)
        defer { world.end() }
        world.keepsTrace = true
        try body(world)
        return world.trace.map { line in
            #expect(line.hasPrefix("0.000000 s  "))
            return String(line.dropFirst("0.000000 s  ".count))
        }
    }

    @Test("the trace tells what a test does to hosts, and only what has an effect")
    func hosts() throws {
        let lines = try told { world in
            let host = try world.addHost("a")
            for _ in 0..<2 { host.pause() }
            for _ in 0..<2 { host.resume() }
            host.send(.windowChange)
            host.restart()
            host.send(.terminate)
            host.kill()
            host.crash()
            host.pause()
            host.send(.terminate)
            host.restart()
            for _ in 0..<2 { host.crash() }
        }
        #expect(
            lines == [
                "a pauses", "a goes on", "a gets signal 28", "a crashes", "a restarts", "a gets signal 15",
                "a is killed", "a restarts", "a crashes",
            ])
    }

    @Test("the trace tells what a test does to links")
    func links() throws {
        let lines = try told { world in
            for name in ["a", "b", "c"] { try world.addHost(name) }
            world.partition("a", "b")
            world.heal("a", "b")
            world.partition(from: "b", to: "a")
            world.hold("a", "b")
            world.release("a", "b")
            world.isolate("c")
            world.heal()
            world.link("b", "a").breakConnections()
        }
        #expect(
            lines == [
                "a and b are parted", "a and b reach each other again", "nothing passes from b to a",
                "what a and b send is held", "what a and b sent is released", "c and a are parted",
                "c and b are parted", "all links are repaired", "the connections of a – b break",
            ])
    }

    @Test("the trace tells what a test does to names, and who listens")
    func names() throws {
        let lines = try told { world in
            let host = try world.addHost("a")
            try world.names.set("x", to: ["10.1.0.1", "FD00::0:9"])
            try world.names.add(.alias("a"), to: "y")
            world.names.fail("x")
            world.names.silence("x")
            world.names.spoil("x", by: .garbage)
            world.names.spoil("x", by: nil)
            _ = try TCPListener(host: "0.0.0.0", port: 7, on: host.loop)
            _ = try UnixListener(path: "/run/x", on: host.loop)
        }
        #expect(
            lines == [
                "x stands for 10.1.0.1, fd00::9", "y has a new record, alias(\"a\")", "x cannot be resolved",
                "nobody answers questions for x", "the answers for x are spoilt: garbage",
                "the answers for x are right", "a listens on 0.0.0.0:7", "a listens at unix:/run/x",
            ])
    }

    @Test("a line has the time in seconds with six digits")
    func times() throws {
        let world = World(seed: 1)
        defer { world.end() }
        world.keepsTrace = true
        for time in [.nanoseconds(999), .nanoseconds(1), .milliseconds(20), .seconds(61)] as [Duration] {
            try world.run(for: time)
            world.note("x")
        }
        #expect(
            world.trace == ["0.000000 s  x", "0.000001 s  x", "0.020001 s  x", "61.020001 s  x"])
    }

    @Test("each byte that arrives counts in the hash of the trace, and each time")
    func hash() throws {
        func hash(_ text: String, after delay: Duration = .zero) throws -> UInt64 {
            let world = World(seed: 1)
            defer { world.end() }
            world.latency = .constant(.milliseconds(1))
            try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            let connection = try world.run(
                until: TCPConnection.connect(host: "10.0.0.1", port: 7, on: client.loop))
            try world.run(for: delay)
            connection.write(text)
            try world.run(for: .seconds(1))
            return world.traceHash
        }
        let texts = ["", "a", "b", "12345678", "12345679", "123456789", "123456780", "12345678123456789"]
        let hashes = try texts.map { try hash($0) }
        #expect(Set(hashes).count == texts.count)
        #expect(try texts.map { try hash($0) } == hashes)
        #expect(try hash("a", after: .milliseconds(1)) != hashes[1])
    }

    @Test("the trace tells of processes, of failures that nobody handles, and of programs that fail")
    func programs() throws {
        let lines = try told { world in
            let host = try world.addHost("a")
            host.programs["greet"] = { process in process.loop.succeeded(0) }
            host.programs["fail"] = { _ in throw FutureError.message("no") }
            for name in ["greet", "fail"] {
                _ = try world.run(until: ChildProcess.start(.init(name), on: host.loop).exit)
            }
            _ = host.loop.failed(FutureError.message("never"), of: Int.self)
            try world.run(for: .zero)
            try world.addHost("b") { _ in throw FutureError.message("not at all") }
            #expect(throws: WorldFailure.self) { try world.run(for: .zero) }
        }
        #expect(
            lines == [
                "a starts process 1001 (greet)", "a process 1001 ends", "a starts process 1002 (fail)",
                "a process 1002 fails: no", "a process 1002 ends", "a nobody handles a failure: never",
                "the program of host b fails: not at all",
            ])
    }
}
