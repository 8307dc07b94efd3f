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
        #expect(try world.run(until: own).map(\.description) == ["127.0.0.1:7", "[::1]:7"])
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
}
