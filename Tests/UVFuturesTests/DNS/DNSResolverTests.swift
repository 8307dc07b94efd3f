import Futures
import FuturesTesting
import Testing

@testable import SystemIO
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
                let records = try loop.run(until: resolver.addresses(of: host, on: loop))
                #expect(records.map(\.address) == addresses.map { $0.with(port: 0) })
                #expect(records.allSatisfy { $0.timeToLive == .zero })
            }
            #expect(servers.queries.isEmpty)
        }
    }

    @Test("what is malformed is refused before a server is asked")
    func malformed() throws {
        try withResolver { servers, resolver, loop throws in
            let text = "host \"a..b\" has an empty part before or between its dots"
            #expect(loop.complaint(of: resolver.resolve("a..b", port: 1, on: loop)) == text)
            #expect(
                loop.complaint(of: resolver.resolve("a", port: 65_536, on: loop))
                    == "port 65536 is out of range; give 0 to 65535")
            #expect(
                loop.complaint(of: resolver.texts(of: "ü", on: loop))
                    == "the name \"\\u{00FC}\" is not ASCII; give the name in its ASCII form, with xn--…"
            )
            #expect(
                loop.complaint(of: resolver.names(of: try SocketAddress(path: "@a"), on: loop))
                    == "unix:@a is not an IP address, so it has no names; give an IP address")
            #expect(servers.queries.isEmpty)
        }
    }

    @Test("the search list is tried in order, as long as servers say something")
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
            #expect(
                loop.complaint(of: resolver.resolve("nowhere", port: 1, on: loop))
                    == "resolve EAI_NONAME nowhere: 10.0.0.1:53 says that nowhere does not exist")
            servers.answer = { query in
                var reply = query.reply
                reply.fail(.serverFailed)
                return [(.zero, reply.bytes)]
            }
            let failure =
                "resolve EAI_AGAIN new: 10.0.0.1:53 answered with an error (SERVFAIL), asked for new.a.org"
            #expect(loop.complaint(of: resolver.resolve("new", port: 1, on: loop)) == failure)
            #expect(asked().suffix(3) == ["new.a.org", "new.b.org", "new"])
            servers.answer = { _ in [] }
            let silence = "10.0.0.1:53 gave no answer within 5.0 seconds, asked for no.a.org"
            #expect(
                loop.complaint(of: resolver.resolve("no", port: 1, on: loop))
                    == "resolve ETIMEDOUT no: \(silence)")
            #expect(asked().last == "no.a.org")
        }
    }

    @Test(
        "a server that fails for one domain of the search list lets the search go on, and the error tells of it",
        arguments: [.serverFailed, .refused, .formatError, .notImplemented, DNSResponse.Code(number: 9), nil]
            as [DNSResponse.Code?])
    func failingDomain(code: DNSResponse.Code?) throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            loop.setNameFiles(resolvConf: "nameserver 10.0.0.1\nsearch a.org b.org")
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            servers.answer = { query in
                var reply = query.reply
                if !query.name.hasSuffix("a.org") {
                    reply = try reply.filled(["db.b.org": [.address("192.0.2.1")]], timeToLive: 0)
                } else if let code {
                    reply.fail(code)
                } else {
                    try reply.add(.address("192.0.2.1"), of: reply.question.name, timeToLive: 0)
                    return [(.zero, reply.bytes.dropLast())]
                }
                return [(.zero, reply.bytes)]
            }
            #expect(try loop.run(until: resolver.resolve("db", port: 1, on: loop))[0].host == "192.0.2.1")
            let what =
                code.map { "answered with an error (\($0))" }
                ?? "sent a malformed answer: it ends within a record"
            for name in ["no", "no.where"] {
                #expect(
                    loop.complaint(of: resolver.resolve(name, port: 1, on: loop))
                        == "resolve EAI_AGAIN \(name): 10.0.0.1:53 \(what), asked for \(name).a.org")
            }
        }
    }

    @Test("an error names what the user gave")
    func namedErrors() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                reply.fail(.serverFailed)
                return [(.zero, reply.bytes)]
            }
            let failed = "10.0.0.1:53 answered with an error (SERVFAIL)"
            for name in ["a", "A.Example", "a.example."] {
                let expected = "resolve EAI_AGAIN \(name): \(failed)"
                #expect(loop.complaint(of: resolver.resolve(name, port: 1, on: loop)) == expected)
                #expect(loop.complaint(of: resolver.addresses(of: name, on: loop)) == expected)
                #expect(loop.complaint(of: resolver.texts(of: name, on: loop)) == expected)
                #expect(loop.complaint(of: resolver.services(of: name, on: loop)) == expected)
                #expect(loop.complaint(of: resolver.mailExchanges(of: name, on: loop)) == expected)
            }
            for host in ["192.0.2.1", "::ffff:192.0.2.1"] {
                let names = resolver.names(of: try SocketAddress(host: host, port: 1), on: loop)
                #expect(
                    loop.complaint(of: names)
                        == "resolve EAI_AGAIN \(host): \(failed), asked for 1.2.0.192.in-addr.arpa")
            }
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.alias("A"), of: reply.question.name, timeToLive: 60)
                return [(.zero, reply.bytes)]
            }
            #expect(
                loop.complaint(of: resolver.texts(of: "A.", on: loop)).hasPrefix(
                    "resolve EAI_AGAIN A.: 10.0.0.1:53 says"))
        }
    }

    @Test("the names of an IPv4 address are found where a socket of IPv6 shows it")
    func mapped() throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            loop.setNameFiles(
                resolvConf: "nameserver 10.0.0.1", hosts: "192.0.2.7 box\n::ffff:192.0.2.8 ship")
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            servers.serve(["1.2.0.192.in-addr.arpa": [.pointer("a.example")]])
            for (host, name) in [("1", "a.example"), ("7", "box"), ("8", "ship")] {
                for prefix in ["192.0.2.", "::ffff:192.0.2."] {
                    let address = try SocketAddress(host: prefix + host, port: 9)
                    #expect(try loop.run(until: resolver.names(of: address, on: loop)).map(\.name) == [name])
                }
            }
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
