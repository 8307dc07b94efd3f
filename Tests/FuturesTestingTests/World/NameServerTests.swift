import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct NameServerTests {
    /// A world with a name server, and a client that asks it.
    private func world(seed: UInt64 = 1, servers: [String] = ["ns"]) throws -> (
        World, SimulatedHost, DNSResolver
    ) {
        let world = World(seed: seed)
        world.latency = .constant(.milliseconds(10))
        for name in servers { try world.addNameServer(name) }
        let client = try world.addHost("client")
        return (world, client, try DNSResolver())
    }

    @Test("a program finds the hosts of its world by a name server, and connects")
    func connect() throws {
        let (world, client, resolver) = try world()
        let server = try world.addHost("server", Programs.echo)
        client.loop.resolver = resolver
        #expect(try world.run(until: Programs.ask(client, "SERVER")) == Data("hello".utf8))
        // The question and its answer, a millisecond of the server's, the refusal by IPv6, where nobody listens, the
        // handshake, the line there and back.
        #expect(world.now == .milliseconds(20 + 1 + 20 + 20 + 20))
        let found = try world.run(until: resolver.resolve("server", port: 7, on: client.loop))
        #expect(found.map(\.host) == [server.addresses[1], server.addresses[0]])
        let names = resolver.names(of: try SocketAddress(host: server.addresses[0], port: 1), on: client.loop)
        #expect(try world.run(until: names).map(\.name) == ["server"])
        #expect(
            world.failure(of: Programs.ask(client, "nobody"))
                == "resolve EAI_NONAME nobody: 10.0.0.1:53 says that nobody does not exist")
    }

    @Test("names have records of each kind, and aliases")
    func records() throws {
        let (world, client, resolver) = try world()
        let loop = client.loop
        try world.names.add(.service(priority: 2, weight: 1, port: 81, target: "b"), to: "_http._tcp.shop")
        try world.names.add(.service(priority: 1, port: 80, target: "a"), to: "_http._tcp.Shop")
        try world.names.add(.alias("client"), to: "other")
        try world.names.add(.text(["one ", "two"]), to: "shop")
        try world.names.add(.mailExchange(preference: 1, "mx"), to: "shop")
        try world.names.add(.https(target: "web", parameters: [3: [0x20, 0xFB]]), to: "shop")
        try world.names.add(.pointer("shop"), to: "9.2.0.192.in-addr.arpa")
        let services = try world.run(until: resolver.services(of: "_http._tcp.shop", on: loop))
        #expect(services.map { "\($0.target):\($0.port)" } == ["a:80", "b:81"])
        #expect(services[0].timeToLive > .seconds(59))
        #expect(
            try world.run(until: resolver.resolve("other", port: 1, on: loop)).map(\.host)
                == client.addresses.reversed())
        #expect(try world.run(until: resolver.texts(of: "shop", on: loop))[0].text == "one two")
        #expect(try world.run(until: resolver.mailExchanges(of: "shop", on: loop))[0].exchange == "mx")
        let https = try world.run(until: resolver.httpsServices(of: "shop", on: loop))[0]
        #expect(https.target == "web" && https.port == 8443)
        let address = try SocketAddress(host: "192.0.2.9", port: 1)
        #expect(try world.run(until: resolver.names(of: address, on: loop))[0].name == "shop")
        #expect(
            world.failure(of: resolver.texts(of: "client", on: loop))
                == "resolve EAI_NODATA client: 10.0.0.1:53 says that client has no TXT record")
        #expect(throws: FutureError.self) { try world.names.add(.address("x"), to: "shop") }
        #expect(throws: FutureError.self) { try world.names.add(.alias("a..b"), to: "shop") }
    }

    @Test("names fail, and answers may be missing, as the world says it")
    func failures() throws {
        let (world, client, resolver) = try world()
        world.names.fail("a")
        #expect(
            world.failure(of: resolver.resolve("a", port: 1, on: client.loop))
                == "resolve EAI_AGAIN a: 10.0.0.1:53 answered with an error (SERVFAIL)")
        world.names.fail("b", with: .noAddress)
        #expect(
            world.failure(of: resolver.resolve("b", port: 1, on: client.loop))
                == "resolve EAI_NODATA b: 10.0.0.1:53 says that b has no address")
        world.names.silence("c")
        let start = world.now
        #expect(
            world.failure(of: resolver.resolve("c", port: 1, on: client.loop))
                == "resolve ETIMEDOUT c: 10.0.0.1:53 gave no answer within 5.0 seconds")
        #expect(world.now - start == .seconds(10))
    }

    @Test(
        "wrong answers are ignored, or asked for again",
        arguments: [
            (SimulatedNames.Mistake.wrongID, "gave no answer within 5.0 seconds"),
            (.wrongQuestion, "gave no answer within 5.0 seconds"),
            (.garbage, "gave no answer within 5.0 seconds"),
            (.cut, "sent a malformed answer: it ends within a record"), (.truncated, nil),
        ] as [(SimulatedNames.Mistake, String?)])
    func mistakes(mistake: SimulatedNames.Mistake, reason: String?) throws {
        let (world, client, resolver) = try world()
        world.names.spoil("client", by: mistake)
        let texts = resolver.resolve("client", port: 1, on: client.loop)
        if let reason {
            #expect(world.failure(of: texts).hasSuffix(": 10.0.0.1:53 " + reason))
            let isIgnored = mistake != .cut
            #expect(resolver.statistics.ignoredAnswers == (isIgnored ? 4 : 0))
        } else {
            #expect(try world.run(until: texts).count == 2)
            #expect(resolver.statistics.truncatedAnswers == 2)
        }
        world.names.spoil("client", by: nil)
        #expect(try world.run(until: resolver.resolve("client", port: 1, on: client.loop)).count == 2)
    }

    @Test("an answer that is too long for a datagram comes by TCP")
    func long() throws {
        let (world, client, resolver) = try world()
        for number in 0..<30 {
            try world.names.add(.text(["\(number)", String(repeating: "x", count: 100)]), to: "long")
        }
        #expect(try world.run(until: resolver.texts(of: "long", on: client.loop)).count == 30)
        #expect(resolver.statistics.truncatedAnswers == 1)
    }

    @Test("a server that has crashed is passed over, and one that is parted, too")
    func crashed() throws {
        let (world, client, resolver) = try world(servers: ["ns1", "ns2"])
        world.names.timeToLive = .zero
        func time() throws -> Duration {
            let start = world.now
            _ = try world.run(until: resolver.texts(of: "shop", on: client.loop))
            return world.now - start
        }
        try world.names.add(.text(["x"]), to: "shop")
        #expect(try time() == .milliseconds(21))
        world.host("ns1").crash()
        #expect(try time() == .milliseconds(5021))
        #expect(try time() == .milliseconds(21))
        world.host("ns1").restart()
        try world.run(for: .seconds(30))
        world.partition("ns1", "client")
        #expect(try time() == .milliseconds(5021))
        world.heal()
        world.host("ns2").kill()
        // The system of a host whose program has ended says so at once. The first server is asked last.
        #expect(try time() == .milliseconds(20 + 21))
    }

    @Test("without descriptors a look-up fails, and says so")
    func descriptors() throws {
        let (world, client, resolver) = try world()
        client.maxDescriptors = 0
        let error = world.failure(of: resolver.texts(of: "a", on: client.loop))
        #expect(error.hasPrefix("resolve EAI_AGAIN a: 10.0.0.1:53 could not be asked: "))
        #expect(error.contains("EMFILE"))
    }

    @Test("a host may have files of its own")
    func files() throws {
        let (world, client, resolver) = try world(servers: ["ns1", "ns2"])
        #expect(client.resolvConf == "nameserver 10.0.0.1\nnameserver 10.0.0.2\n")
        #expect(client.hostsFile.contains("127.0.0.1 localhost"))
        client.resolvConf = "nameserver 10.0.0.2\nsearch shop.example"
        client.hostsFile = "192.0.2.1 box"
        try world.names.set("db.shop.example", to: ["192.0.2.2"])
        #expect(
            try world.run(until: resolver.resolve("box", port: 1, on: client.loop))[0].host == "192.0.2.1")
        #expect(try world.run(until: resolver.resolve("db", port: 1, on: client.loop))[0].host == "192.0.2.2")
        #expect(
            world.failure(of: resolver.resolve("no", port: 1, on: client.loop))
                == "resolve EAI_NONAME no: 10.0.0.2:53 says that no does not exist")
    }

    @Test("the seed decides numbers, ports and orders: two runs with it do the same")
    func deterministic() throws {
        func hash(_ seed: UInt64) throws -> (UInt64, [String]) {
            let (world, client, resolver) = try world(seed: seed, servers: ["ns1", "ns2"])
            for number in 0..<5 {
                try world.names.add(.service(weight: 1, port: number, target: "a"), to: "_x._udp.shop")
            }
            let services = resolver.services(of: "_x._udp.shop", on: client.loop)
            let order = try world.run(until: services).map { "\($0.port)" }
            for name in ["ns1", "ns2", "client", "nobody"] {
                _ = world.failure(of: resolver.resolve(name, port: 1, on: client.loop))
            }
            return (world.traceHash, order)
        }
        let (first, order) = try hash(1)
        #expect(try hash(1) == (first, order))
        #expect(try hash(2).0 != first)
        #expect(try Set((1...20).map { try hash($0).1 }).count > 5)
    }

    @Test("a name is found in the end, whatever goes wrong with servers and links")
    func explored() throws {
        try World.explore(seeds: 0..<50 / UInt64(slowShare)) { world in
            try world.addNameServer("ns1")
            try world.addNameServer("ns2")
            try world.addHost("server", Programs.echo)
            let client = try world.addHost("client")
            let resolver = try DNSResolver()
            world.names.timeToLive = .seconds(1)
            var mix = World.FaultMix()
            mix.hosts = ["ns1", "ns2", "client"]
            mix.kinds = [.partition, .partitionOneWay, .slow, .pause, .hold, .unreliable]
            world.injectFaults(mix, until: .seconds(60))
            // Each question is answered, rightly or by an error, and from the end of the faults on rightly.
            let asked = client.loop.forEach(0..<30) { _ in
                client.loop.sleep(for: .seconds(2)).flatMap {
                    resolver.resolve("server", port: 1, on: client.loop).tapResult { result in
                        if case .success(let found) = result { #expect(found.count == 2 || found.count == 1) }
                    }
                    .asVoid().recover { _ in }
                }
            }
            try world.run(until: asked)
            try world.run(for: .seconds(100))
            #expect(try world.run(until: resolver.resolve("server", port: 1, on: client.loop)).count == 2)
        }
    }

    @Test("a name server stays silent on a connection to what is no query, and to a client that has gone")
    func noQuery() throws {
        let (world, client, _) = try world()
        world.keepsTrace = true
        let connection = try world.run(
            until: TCPConnection.connect(host: "10.0.0.1", port: 53, on: client.loop))
        connection.write(Data([0, 3, 1, 2, 3]))
        let answer = connection.read()
        try world.run(for: .seconds(10))
        #expect(!answer.isCompleted && connection.isOpen)
        connection.abort()
        answer.ignoreFailure()
        try world.run(for: .seconds(1))
        #expect(!world.trace.contains { $0.contains("nobody handles") }, "\(world.trace)")
    }
}
