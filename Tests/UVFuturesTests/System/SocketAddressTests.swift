import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct SocketAddressTests {
    @Test(
        "addresses print as one writes them",
        arguments: [
            ("127.0.0.1", 7007, "127.0.0.1:7007"), ("0.0.0.0", 0, "0.0.0.0:0"),
            ("9.10.99.100", 1, "9.10.99.100:1"), ("255.254.200.199", 1, "255.254.200.199:1"),
            ("::1", 7007, "[::1]:7007"),
            ("0:0:0:0:0:0:0:1", 65_535, "[::1]:65535"), ("2001:DB8::A", 1, "[2001:db8::a]:1"),
            ("::ffff:10.0.0.1", 2, "[::ffff:10.0.0.1]:2"), ("fe80::1%lo", 3, "[fe80::1%lo]:3"),
        ])
    func prints(_ host: String, _ port: Int, _ text: String) throws {
        let address = try SocketAddress(host: host, port: port)
        #expect("\(address)" == text)
        #expect(address.port == port)
        #expect(address.isIPv6 == host.contains(":"))
        #expect(try SocketAddress(host: address.host, port: port) == address)
    }

    @Test(
        "what is no numeric address is refused",
        arguments: [
            "", "localhost", "example.com", "300.0.0.1", "1.2.3", "127.0.0.1\0", "127.0.0.1 ", ":::", "[::1]",
            "1.2.3.4.5", "::1\0x",
        ])
    func refuses(_ host: String) {
        #expect(throws: FutureError.invalidArgument("host \"\(host)\" is not a numeric IPv4 or IPv6 address"))
        {
            try SocketAddress(host: host, port: 1)
        }
    }

    @Test("a port out of range is refused with its value", arguments: [-1, 65_536, Int.max, Int.min])
    func refusesPort(_ port: Int) {
        #expect(throws: FutureError.invalidArgument("port \(port) is out of range; give 0 to 65535")) {
            try SocketAddress(host: "::1", port: port)
        }
    }

    private func isOneLine(_ text: String) -> Bool {
        text.utf8.count < 3_000 && !text.utf8.contains { $0 < 32 || $0 == 127 }
    }

    @Test("whatever is given for a path is one that the system takes as it is, or refused in one line")
    func anything() {
        var random = SeededGenerator()
        var (taken, refused) = (0, 0)
        let pieces = [
            "/", "//", "@", ".", "..", "\0", "\n", " ", "a", "ä", "\u{202e}", "\u{301}", "run", "echo.sock",
        ]
        for _ in 0..<largeCount {
            var path = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }.joined()
            if random.below(4) == 0 { path += String(repeating: "x", count: 90 + random.below(30)) }
            if random.below(8) == 0 {
                path += String(decoding: random.bytes(random.below(120)), as: UTF8.self)
            }
            do {
                let address = try SocketAddress(path: path)
                taken += 1
                // As the system gives it back.
                let isAbstract = path.utf8.first == UInt8(ascii: "@")
                guard address.path == path, path.utf8.count <= (isAbstract ? 108 : 107),
                    !path.utf8.contains(0),
                    address.isAbstract == isAbstract, isOneLine("\(address)")
                else {
                    Issue.record("\(path.debugDescription) became \(address)")
                    return
                }
            } catch {
                refused += 1
                guard case .invalidArgument(let text) = error as? FutureError,
                    text.utf8.starts(with: "a socket path of ".utf8)
                        || text.utf8.starts(with: "the socket path ".utf8), isOneLine(text)
                else {
                    Issue.record("\(path.debugDescription): \(error)")
                    return
                }
            }
        }
        #expect(min(taken, refused) > largeCount / 100, "\(taken) \(refused)")
    }

    @Test("a path is shown in one line, and is abstract by its first byte, whatever follows that")
    func odd() throws {
        let path = "/tmp/a\nb\u{202e}\u{7f}ä"
        #expect(try "\(SocketAddress(path: path))" == #"unix:/tmp/a\nb\u{202E}\u{7F}ä"#)
        #expect(try SocketAddress(path: path).path == path)
        let long = String(repeating: "x", count: 1_000_000)
        #expect(
            complaint { _ = try SocketAddress(path: long) }
                == "the socket path \(long.prefix(200))… is too long: it has 1000000 bytes, and the system takes 107; give "
                + "a shorter one, perhaps a relative one")
        #expect(try SocketAddress(path: "@\u{301}x").isAbstract)
        try withLoop { loop in
            let name = "@\u{301}-\(getpid())"
            let listener = try UnixListener(path: name, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: name, on: loop))
            #expect(client.peerAddress?.path == name)
            try loop.run(until: client.close().and(listener.close()).map { _ in })
        }
    }
}
