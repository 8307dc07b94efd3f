import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SimulatedNamesTests {
    @Test("names stand for hosts, and can change, fail, or stay without an answer")
    func names() throws {
        let world = World(seed: 1)
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        #expect(try world.run(until: Programs.ask(client, "SERVER")) == Data("hello".utf8))
        #expect(
            world.failure(of: Programs.ask(client, "nobody"))
                == "resolve EAI_NONAME nobody: unknown node or service")
        let own = SystemResolver.shared.resolve("localhost", port: 7, on: client.loop)
        #expect(try world.run(until: own).map(\.description) == ["[::1]:7", "127.0.0.1:7"])
        world.names.fail("server")
        #expect(
            world.failure(of: Programs.ask(client)) == "resolve EAI_AGAIN server: temporary failure")
        world.names.silence("server")
        let start = world.now
        #expect(world.failure(of: Programs.ask(client)) == "resolve ETIMEDOUT server: no answer came in time")
        #expect(world.now - start == .seconds(5))
        try world.names.set("other", to: ["10.0.0.1"])
        #expect(try world.run(until: Programs.ask(client, "other")) == Data("hello".utf8))
        world.names.latency = .seconds(1)
        let late = world.now
        _ = try world.run(until: client.loop.addresses(of: "other", port: 1))
        #expect(world.now - late == .seconds(1))
        #expect(throws: FutureError.self) { try world.names.set("x", to: ["y"]) }
    }

    /// What `SystemResolver` says with the same file on glibc 2.36, on a host without IPv6 and without name servers.
    @Test(
        "the hosts file of a host comes before all other names, also for localhost",
        arguments: [
            ("files.test", "10.0.0.9 10.0.0.8 192.0.2.5 fd01::5"),
            ("FILES.test", "10.0.0.9 10.0.0.8 192.0.2.5 fd01::5"),
            ("alias", "10.0.0.9"), ("other", "10.0.0.8"), ("twice", "10.0.0.7"),
            ("dotted.test.", "10.0.0.6"), ("localhost", "127.0.0.1"), ("LOCALHOST", "127.0.0.1"),
            ("both", "::1 127.0.0.1"),
            ("files.test.", nil), ("dotted.test", nil), ("bad.test", nil), ("a.localhost", nil),
            ("localhost.", nil),
        ])
    func hostsFile(name: String, addresses: String?) throws {
        let world = World(seed: 1)
        let host = try world.addHost("host", addresses: ["10.0.0.1"])
        host.hostsFile = """
            # A comment.
            10.0.0.9 Files.test alias   # behind
            fd01::5 files.test
            10.0.0.8 other files.TEST
            192.0.2.5 files.test
            10.0.0.6 dotted.test.
            bogus bad.test
            10.0.0.5
            10.0.0.7 twice
            10.0.0.7 twice
            127.0.0.1 localhost
            127.0.0.1 both
            ::1 both
            """
        try world.names.set("twice", to: ["192.0.2.1"])
        world.names.fail("other")
        let answer = SystemResolver.shared.resolve(name, port: 7, on: host.loop).map { addresses in
            addresses.map(\.host).joined(separator: " ")
        }
        guard let addresses else {
            #expect(world.failure(of: answer) == "resolve EAI_NONAME \(name): unknown node or service")
            return
        }
        #expect(try world.run(until: answer) == addresses)
    }

    @Test("without localhost in the hosts file, there is none, and a name of the world may be one")
    func withoutLocalhost() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.hostsFile = ""
        let missing = SystemResolver.shared.resolve("localhost", port: 7, on: host.loop)
        #expect(world.failure(of: missing) == "resolve EAI_NONAME localhost: unknown node or service")
        try world.names.set("localhost", to: ["127.0.0.2"])
        let named = SystemResolver.shared.resolve("localhost", port: 7, on: host.loop)
        #expect(try world.run(until: named).map(\.description) == ["127.0.0.2:7"])
        let virtual = EventLoop.virtual()
        let own = SystemResolver.shared.resolve("LocalHost", port: 7, on: virtual)
        #expect(try virtual.run(until: own).map(\.description) == ["[::1]:7", "127.0.0.1:7"])
        #expect(throws: ResolutionError.self) {
            try virtual.run(until: SystemResolver.shared.resolve("a.localhost", port: 7, on: virtual))
        }
        virtual.shutdown()
    }
}
