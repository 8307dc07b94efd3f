import Testing
import UVFutures

struct NameResolverTests {
    @Test(
        "names as long as they may be, with underscores and a dot at the end, reach the resolver",
        arguments: TestNetwork.allCases)
    func names(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let label = String(repeating: "a", count: 63)
            let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
            #expect(longest.utf8.count == 253)
            let table = Table()
            for name in ["a", "A-1", "_dmarc.example.com", "example.com.", "1a", "-", longest, longest + "."]
            {
                let expected = [try SocketAddress(host: "192.0.2.1", port: 7)]
                #expect(try loop.run(until: loop.addresses(of: name, port: 7, resolver: table)) == expected)
                #expect(table.asked.last == name)
            }
        }
    }

    @Test("numeric addresses and localhost need no resolver", arguments: TestNetwork.allCases)
    func fast(network: TestNetwork) throws {
        try withLoop(network) { loop in
            for (host, found) in [
                ("127.0.0.1", ["127.0.0.1:9"]), ("::ffff:10.0.0.1", ["[::ffff:10.0.0.1]:9"]),
                ("fe80::1%lo", ["[fe80::1%lo]:9"]), ("fe80::1%1", ["[fe80::1%lo]:9"]),
                ("localhost", ["127.0.0.1:9", "[::1]:9"]), ("LocalHost", ["127.0.0.1:9", "[::1]:9"]),
            ] {
                let addresses = loop.addresses(of: host, port: 9, resolver: NoResolver())
                let result = try addresses.result?.get()
                #expect(result?.map { "\($0)" } == found)
            }
            for port in [-1, 65_536] {
                #expect(
                    loop.failure(of: loop.addresses(of: "a", port: port, resolver: NoResolver()))
                        as? FutureError
                        == .invalidArgument("port \(port) is out of range; give 0 to 65535"))
            }
        }
    }

    @Test("a loop that has been shut down tells no address", arguments: TestNetwork.allCases)
    func shutDown(network: TestNetwork) throws {
        let loop = try network.makeLoop()
        loop.shutdown()
        for host in ["127.0.0.1", "localhost", "a.test"] {
            #expect(throws: FutureError.shutDown) {
                try loop.addresses(of: host, port: 1, resolver: NoResolver()).result?.get()
            }
        }
    }
}

/// What must not be asked.
struct NoResolver: NameResolver {
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        Issue.record("asked for \(name)")
        return loop.failed(FutureError.message("asked"))
    }
}

/// Knows each name, and what it was asked for.
final class Table: NameResolver {
    var asked: [String] = []

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        asked.append(name)
        return loop.submit { [try SocketAddress(host: "192.0.2.1", port: port)] }
    }
}
