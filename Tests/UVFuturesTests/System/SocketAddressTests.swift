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

    @Test("another port changes nothing else")
    func ports() throws {
        for host in ["10.0.0.1", "::1", "fe80::1%lo"] {
            let address = try SocketAddress(host: host, port: 1)
            #expect(try address.with(port: 65_535) == SocketAddress(host: host, port: 65_535))
            #expect(address.with(port: 1) == address)
        }
        let path = try SocketAddress(path: "/x")
        #expect(path.with(port: 9) == path)
    }

    @Test("an address of IPv4 has a form of IPv6 that leads back, and no other has")
    func mapped() throws {
        for host in ["0.0.0.0", "10.0.0.1", "255.255.255.255"] {
            let address = try SocketAddress(host: host, port: 7)
            #expect(address.mapped.isIPv6 && address.mapped.port == 7)
            #expect(address.mapped.host == "::ffff:\(host)")
            #expect(address.mapped.unmapped == address && address.unmapped == address)
            #expect(address.mapped.mapped == address.mapped)
        }
        // The last begins with the same bits.
        for host in ["::", "::1", "::10.0.0.1", "1::ffff:10.0.0.1", "fe80::1%lo"] {
            let address = try SocketAddress(host: host, port: 7)
            #expect(address.mapped == address && address.unmapped == address)
        }
        let path = try SocketAddress(path: "/x")
        #expect(path.mapped == path && path.unmapped == path)
    }

    @Test(
        "an address is one of a group, of the machine itself, of all, or none of these",
        arguments: [
            ("224.0.0.0", "group"), ("239.255.255.255", "group"), ("ff02::1%lo", "group"),
            ("ff00::", "group"),
            ("127.0.0.1", "loopback"), ("127.255.255.255", "loopback"), ("::1", "loopback"),
            ("0.0.0.0", "wildcard"), ("::", "wildcard"), ("223.255.255.255", ""), ("240.0.0.0", ""),
            ("128.0.0.1", ""), ("126.0.0.1", ""), ("0.0.0.1", ""), ("fe00::", ""), ("::2", ""), ("1::1", ""),
            ("1::", ""), ("255.255.255.255", ""),
        ])
    func kinds(host: String, kind: String) throws {
        let address = try SocketAddress(host: host, port: 7)
        #expect(address.isMulticast == (kind == "group"))
        #expect(address.isLoopback == (kind == "loopback"))
        #expect(address.isWildcard == (kind == "wildcard"))
        let path = try SocketAddress(path: "/\(host)")
        #expect(!path.isMulticast && !path.isLoopback && !path.isWildcard)
    }

    @Test("a zone keeps its number, whether this machine has the interface or not")
    func zones() throws {
        let unknown = try SocketAddress(host: "fe80::1%987654321", port: 7)
        #expect("\(unknown)" == "[fe80::1%987654321]:7")
        #expect(try SocketAddress(host: unknown.host, port: 7) == unknown)
        #expect(unknown.with(port: 8).host == unknown.host)
        let number = unsafe if_nametoindex("lo")
        #expect(
            try SocketAddress(host: "fe80::1%\(number)", port: 7)
                == SocketAddress(host: "fe80::1%lo", port: 7))
        for host in [
            "fe80::1%nothing0", "fe80::1%", "fe80::1%0", "fe80::1%4294967296", "fe80::1%lo%1", "10.0.0.1%lo",
        ] {
            #expect(
                throws: FutureError.invalidArgument("host \"\(host)\" is not a numeric IPv4 or IPv6 address")
            ) {
                try SocketAddress(host: host, port: 7)
            }
        }
    }

    @Test("a name has a byte at least and 107 at most, those behind an @ for an abstract one")
    func lengths() throws {
        for mark in ["", "@"] {
            for count in [1, 2, 106, 107] {
                let path = mark + String(repeating: "x", count: count)
                let address = try SocketAddress(path: path)
                #expect(address.path == path && address.isAbstract == (mark == "@"))
            }
            let path = mark + String(repeating: "x", count: 108)
            #expect(
                complaint { _ = try SocketAddress(path: path) }
                    == "the socket path \(path) is too long: it has 108 bytes, but the system allows 107; give "
                    + "a shorter one, perhaps a relative one")
            #expect(
                complaint { _ = try SocketAddress(path: mark) }
                    == "a socket path of \"\(mark)\" is empty; give a path, or @ followed by a name")
        }
        #expect(try !SocketAddress(host: "::1", port: 1).isAbstract)
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
                    isAbstract || !path.utf8.contains(0),
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
                == "the socket path \(long.prefix(200))… is too long: it has 1000000 bytes, but the "
                + "system allows 107; give "
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
