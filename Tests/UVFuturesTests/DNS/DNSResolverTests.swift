import Futures
import FuturesTesting
import Testing

@testable import UVFutures

struct DNSResolverTests {
    @Test("both families are asked at once, and IPv6 comes first")
    func addresses() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve([
                "www.example.com": [.address("192.0.2.1"), .address("2001:db8::1"), .address("192.0.2.2")]
            ])
            let start = loop.now
            let addresses = try loop.run(until: resolver.resolve("www.example.com", port: 80, on: loop))
            #expect(addresses.map(\.description) == ["[2001:db8::1]:80", "192.0.2.1:80", "192.0.2.2:80"])
            #expect(start.duration(to: loop.now) == .milliseconds(1))
            #expect(servers.asked == ["10.0.0.1 AAAA www.example.com", "10.0.0.1 A www.example.com"])
            #expect(servers.mostOpenSockets == 2)
            let records = try loop.run(until: resolver.addresses(of: "www.example.com", on: loop))
            #expect(records.map(\.address.port) == [0, 0, 0])
            #expect(records.map(\.timeToLive) == [.seconds(60), .seconds(60), .seconds(60)])
        }
    }

    @Test("a loop's resolver serves connect and addresses")
    func loopResolver() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["server": [.address("127.0.0.1")]])
            loop.resolver = resolver
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener.localAddress.port
            let client = try loop.run(until: TCPConnection.connect(host: "server", port: port, on: loop))
            #expect(client.peerAddress?.host == "127.0.0.1")
            let error = loop.complaint(of: TCPConnection.connect(host: "nobody", port: port, on: loop))
            #expect(error == "resolve EAI_NONAME nobody: 10.0.0.1:53 says that nobody does not exist")
            client.abort()
            listener.close()
            try loop.run()
        }
    }

    @Test("addresses, localhost and the names in it need no server")
    func withoutServers() throws {
        try withResolver { servers, resolver, loop throws in
            for (host, found) in [
                ("192.0.2.1", ["192.0.2.1:7"]), ("::1", ["[::1]:7"]),
                ("localhost", ["[::1]:7", "127.0.0.1:7"]),
                ("a.LocalHost.", ["127.0.0.1:7", "[::1]:7"]),
            ] {
                let addresses = try loop.run(until: resolver.resolve(host, port: 7, on: loop))
                #expect(addresses.map(\.description) == found)
            }
            #expect(servers.queries.isEmpty)
        }
    }

    @Test("what is malformed is refused before a server is asked")
    func malformed() throws {
        try withResolver { servers, resolver, loop throws in
            let text = "host \"a..b\" has nothing before or between its dots"
            #expect(loop.complaint(of: resolver.resolve("a..b", port: 1, on: loop)) == text)
            #expect(
                loop.complaint(of: resolver.resolve("a", port: 65_536, on: loop))
                    == "port 65536 is out of range; give 0 to 65535")
            #expect(
                loop.complaint(of: resolver.texts(of: "ü", on: loop))
                    == "the name \"\\u{00FC}\" is not ASCII; give such a name in its other form, xn--…"
            )
            #expect(
                loop.complaint(of: resolver.names(of: try SocketAddress(path: "@a"), on: loop))
                    == "unix:@a is no IP address, and has no names")
            #expect(servers.queries.isEmpty)
        }
    }

    @Test("services come by priority, with names, ports and times to live")
    func services() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve([
                "_http._tcp.example.com": [
                    .service(priority: 2, weight: 0, port: 81, target: "b.example.com"),
                    .service(priority: 1, weight: 5, port: 80, target: "a.example.com"),
                ], "_no._tcp.example.com": [.service(port: 0, target: ".")],
            ])
            let found = try loop.run(until: resolver.services(of: "_http._tcp.example.com", on: loop))
            #expect(
                found.map { "\($0.priority) \($0.weight) \($0.target):\($0.port)" } == [
                    "1 5 a.example.com:80", "2 0 b.example.com:81",
                ])
            #expect(found[0].timeToLive == .seconds(60))
            #expect(
                loop.complaint(of: resolver.services(of: "_no._tcp.example.com", on: loop))
                    == "resolve EAI_NODATA _no._tcp.example.com: 10.0.0.1:53 says that the "
                    + "domain does not have the service"
            )
            #expect(
                loop.complaint(of: resolver.texts(of: "_no._tcp.example.com", on: loop))
                    == "resolve EAI_NODATA _no._tcp.example.com: 10.0.0.1:53 says that "
                    + "_no._tcp.example.com has no TXT record"
            )
        }
    }

    @Test("texts, servers of mail and names of addresses are found")
    func others() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve([
                "example.com": [
                    .text(["v=spf1 ", "-all"]), .mailExchange(preference: 20, "b.example.com"),
                    .mailExchange(preference: 10, "a.example.com"),
                ], "nomail.example.com": [.mailExchange(".")],
                "1.2.0.192.in-addr.arpa": [.pointer("a.example.com")],
                "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa": [
                    .pointer("b.example.com")
                ],
            ])
            let texts = try loop.run(until: resolver.texts(of: "example.com", on: loop))
            #expect(texts.map(\.text) == ["v=spf1 -all"] && texts[0].strings.count == 2)
            let mail = try loop.run(until: resolver.mailExchanges(of: "example.com", on: loop))
            #expect(
                mail.map { "\($0.preference) \($0.exchange)" } == ["10 a.example.com", "20 b.example.com"])
            #expect(
                loop.complaint(of: resolver.mailExchanges(of: "nomail.example.com", on: loop))
                    == "resolve EAI_NODATA nomail.example.com: 10.0.0.1:53 says that the domain takes no mail"
            )
            for (host, name) in [("192.0.2.1", "a.example.com"), ("2001:db8::1", "b.example.com")] {
                let address = try SocketAddress(host: host, port: 80)
                #expect(try loop.run(until: resolver.names(of: address, on: loop)).map(\.name) == [name])
            }
            let unknown = try SocketAddress(host: "192.0.2.9", port: 80)
            #expect(
                loop.complaint(of: resolver.names(of: unknown, on: loop))
                    == "resolve EAI_NONAME 192.0.2.9: 10.0.0.1:53 says that "
                    + "9.2.0.192.in-addr.arpa does not exist"
            )
        }
    }

    @Test("a chain of aliases is followed, also when each answer has only a part of it")
    func aliases() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve(["a": [.alias("b")], "b": [.alias("c")], "c": [.address("192.0.2.1")]])
            #expect(
                try loop.run(until: resolver.resolve("a", port: 1, on: loop)).map(\.host) == ["192.0.2.1"])
            #expect(servers.queries.count == 2)
        }
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                let record: SimulatedNames.Record =
                    query.name == "c" ? .address("192.0.2.1") : .alias(query.name == "a" ? "b" : "c")
                try reply.add(record, of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            let future = resolver.resolve("a", port: 1, on: loop)
            #expect(try loop.run(until: future).map(\.host) == ["192.0.2.1"])
            #expect(
                servers.asked.filter { $0.contains(" A ") } == [
                    "10.0.0.1 A a", "10.0.0.1 A b", "10.0.0.1 A c",
                ])
        }
    }

    @Test("aliases in a circle, and chains without end, are refused")
    func circles() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.alias(query.name == "a" ? "b" : "a"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                loop.complaint(of: resolver.texts(of: "a", on: loop))
                    == "resolve EAI_AGAIN a: 10.0.0.1:53 says that the aliases of a form a "
                    + "circle, which leads to a again"
            )
            servers.answer = { query in
                var reply = query.reply
                let number = Int(query.name.dropFirst()) ?? 0
                try reply.add(.alias("x\(number + 1)"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                loop.complaint(of: resolver.texts(of: "x", on: loop))
                    == "resolve EAI_AGAIN x: 10.0.0.1:53 says that x has a chain of more than 16 aliases")
            #expect(servers.queries.count == 2 + 16)
        }
    }

    @Test("records of other names in an answer do not count")
    func otherNames() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.address("6.6.6.6"), of: DNSName("evil"), timeToLive: 60)
                try reply.add(.address("192.0.2.1"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                try loop.run(until: resolver.resolve("a", port: 1, on: loop)).map(\.host) == ["192.0.2.1"])
        }
    }

    @Test("the search list is tried in order, and only the answer that there is nothing lets it go on")
    func search() throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            loop.setNameFiles(resolvConf: "nameserver 10.0.0.1\nsearch a.org b.org")
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            servers.serve(["db.b.org": [.address("192.0.2.1")], "x.y": [.address("192.0.2.2")]])
            func asked() -> [String] {
                servers.asked.filter { $0.contains(" A ") }.map { String($0.dropFirst(11)) }
            }
            _ = try loop.run(until: resolver.resolve("db", port: 1, on: loop))
            #expect(asked() == ["db.a.org", "db.b.org"])
            _ = try loop.run(until: resolver.resolve("x.y", port: 1, on: loop))
            #expect(asked().count == 3 && asked().last == "x.y")
            #expect(
                loop.complaint(of: resolver.resolve("no.where", port: 1, on: loop))
                    == "resolve EAI_NONAME no.where: 10.0.0.1:53 says that no.where does not exist")
            #expect(asked().suffix(3) == ["no.where", "no.where.a.org", "no.where.b.org"])
            servers.answer = { query in
                var reply = query.reply
                reply.fail(.serverFailed)
                return [(.zero, reply.bytes)]
            }
            let failure = "resolve EAI_AGAIN new.a.org: 10.0.0.1:53 answered with an error (SERVFAIL)"
            #expect(loop.complaint(of: resolver.resolve("new", port: 1, on: loop)) == failure)
            #expect(asked().last == "new.a.org")
        }
    }

    @Test("the hosts file comes first, and both files are read again when they have changed, once a second")
    func files() throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            loop.setNameFiles(resolvConf: "nameserver 10.0.0.1", hosts: "192.0.2.7 box Box.example\n")
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            servers.serve(["a": [.address("192.0.2.1")]])
            func host(_ name: String) throws -> String {
                try loop.run(until: resolver.resolve(name, port: 1, on: loop))[0].host
            }
            #expect(try host("BOX") == "192.0.2.7" && host("box.") == "192.0.2.7")
            let names = resolver.names(of: try SocketAddress(host: "192.0.2.7", port: 1), on: loop)
            #expect(try loop.run(until: names).map(\.name) == ["box"])
            #expect(servers.queries.isEmpty)
            #expect(try host("a") == "192.0.2.1")
            loop.setNameFiles(resolvConf: "nameserver 10.0.0.2", hosts: "192.0.2.8 box")
            #expect(try host("box") == "192.0.2.7")
            loop.advance(by: .milliseconds(998))
            #expect(try host("box") == "192.0.2.7")
            loop.advance(by: .milliseconds(1))
            #expect(try host("box") == "192.0.2.8")
            // The answers of other servers are forgotten.
            #expect(try host("a") == "192.0.2.1")
            #expect(servers.asked.last == "10.0.0.2 A a")
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("limits that make no sense are refused with their value")
    func limits() throws {
        func refusal(_ change: (inout DNSSettings) -> Void) -> String? {
            var settings = DNSSettings()
            change(&settings)
            return complaint { _ = try DNSResolver(settings) }
        }
        let port = "a name server has an IP address and a port, which is 53 for most; give both"
        #expect(
            refusal { $0.servers = [] }
                == "an empty list of name servers answers nothing; give one, or nil")
        #expect(
            refusal { $0.servers = [try! SocketAddress(host: "::1", port: 0)] } == port
        )
        #expect(refusal { $0.servers = [try! SocketAddress(path: "@a")] } == port)
        #expect(
            refusal { $0.maxConcurrent = 0 }
                == "a limit of 0 queries at a time is out of range; give 1 or more")
        #expect(
            refusal { $0.maxCached = -1 }
                == "a limit of -1 answers is out of range; give 0 or more")
        #expect(
            refusal { $0.maxTimeToLive = .seconds(-1) }
                == "a time to live of -1.0 seconds is negative; give zero or more")
        #expect(refusal { $0.maxNegativeTimeToLive = .seconds(-1) } != nil)
        #expect(refusal { _ in } == nil)
    }

    @Test("a loop that has been shut down fails look-ups, and another one may use the resolver then")
    func shutDown() throws {
        let servers = FakeServers()
        servers.serve(["a": [.address("192.0.2.1")]], after: .seconds(1))
        let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
        do {
            let loop = EventLoop.virtual()
            let pending = resolver.resolve("a", port: 1, on: loop)
            loop.shutdown()
            #expect(throws: FutureError.shutDown) { try pending.result?.get() }
            #expect(throws: FutureError.shutDown) {
                try resolver.resolve("a", port: 1, on: loop).result?.get()
            }
            #expect(servers.openSockets == 0)
        }
        try withLoop(.virtual) { loop throws in
            #expect(try loop.run(until: resolver.resolve("a", port: 1, on: loop)).count == 1)
        }
    }

    @Test("the resolver of a loop does not keep the loop", arguments: TestNetwork.allCases)
    func letsGo(network: TestNetwork) throws {
        weak var freed: LoopCore?
        do {
            let loop = try network.makeLoop()
            freed = loop.core
            loop.resolver = try DNSResolver(servers: [SocketAddress(host: "127.0.0.1", port: 1)])
            #expect(loop.failure(of: loop.addresses(of: "a.", port: 1)) is ResolutionError)
            loop.shutdown()
        }
        #expect(freed == nil)
    }

    @Test("use on a second loop traps with a sentence")
    func secondLoop() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resolver = try DNSResolver(servers: [SocketAddress(host: "127.0.0.1", port: 53)])
            let (first, second) = (EventLoop.virtual(), EventLoop.virtual())
            _ = resolver.resolve("a", port: 1, on: first)
            _ = resolver.resolve("a", port: 1, on: second)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "A DNSResolver was used on a second event loop. Make a DNSResolver of its own for each loop.")
        )
    }
}
