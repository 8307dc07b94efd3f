import TestSupport
import Testing
import UVFutures

private let notIPv6 = "is not an IPv6 address; give one like ::1 or fe80::1%eth0, without brackets and port"
private let noZone = ", which is not a network interface of this machine; ip link shows their names"
private let notIPv4 = "looks like a numeric address, but is not a valid one; give one like 192.0.2.1"
private let allowed = "; a name has letters, digits, hyphens, underscores and dots"

struct HostTests {
    @Test(
        "what is neither an address nor a name is refused, with the reason",
        arguments: [
            ("", "is empty; give a name or a numeric address"),
            (".", "has an empty part before or between its dots"),
            (".com", "has an empty part before or between its dots"),
            ("a..b", "has an empty part before or between its dots"),
            ("a.b..", "has an empty part before or between its dots"),
            ("[::1]", notIPv6),
            ("::1:", notIPv6),
            ("[::1", notIPv6),
            ("host:80", #"ends with a port; give the host, "host", and the port, 80, apart"#),
            ("127.0.0.1:80", #"ends with a port; give the host, "127.0.0.1", and the port, 80, apart"#),
            ("[::1]:8080", #"ends with a port; give the host, "::1", and the port, 8080, apart"#),
            ("host:65536", notIPv6),
            ("http://example.com/a", #"is a URL; give the host in it, "example.com""#),
            ("fe80::1%nosuch", #"has the zone "nosuch"\#(noZone)"#),
            ("fe80::1%", #"has the zone ""\#(noZone)"#),
            ("::1%lo%lo", #"has the zone "lo%lo"\#(noZone)"#),
            ("bücher.example", "is not ASCII; give the name in its ASCII form, with xn--…"),
            ("a b", #"contains " "\#(allowed)"#),
            (" a", #"contains " "\#(allowed)"#),
            ("host/path", #"contains "/"\#(allowed)"#),
            ("a%lo", #"contains "%"\#(allowed)"#),
            ("127.0.0.1%lo", #"contains "%"\#(allowed)"#),
            ("255.256", notIPv4),
            ("1.2.3", notIPv4),
            ("1.2.65535", notIPv4),
            ("127.0.0.01", notIPv4),
            ("2130706433", notIPv4),
            ("0x7f.0X1", notIPv4),
            ("0", notIPv4),
        ], TestNetwork.allCases)
    func refused(refusal: (host: String, reason: String), network: TestNetwork) throws {
        let (host, reason) = refusal
        try withLoop(network) { loop in
            let error = loop.failure(of: loop.addresses(of: host, port: 1, resolver: NoResolver()))
            let quoted = host.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
            #expect("\(error!)" == "host \"\(quoted)\" \(reason)")
            guard case .invalidArgument = error as? FutureError else {
                Issue.record("\(error!)")
                return
            }
            let refused = loop.failure(of: TCPConnection.connect(host: host, port: 1, on: loop))
            #expect("\(refused!)" == "\(error!)")
        }
    }

    @Test(
        "a name that looks like an address, and that no system reads as one, is a name",
        arguments: [
            "300.0.0.1", "1.2.3.256", "1.2.3.4.5", "1.2.65536", "256.1", "4294967296", "127.1.", "08.1.1.1",
            "node.1",
            "1.node.2", "node.0x1", "0xg", "0x", "1.2.3.4.example", "1e3",
        ])
    func numbers(name: String) throws { #expect(try Host(name, port: 1) == .name(name)) }

    @Test("control characters are spelled out, and a long name is cut off", arguments: TestNetwork.allCases)
    func quoted(network: TestNetwork) throws {
        try withLoop(network) { loop in
            func complaint(_ host: String) -> String {
                "\(loop.failure(of: loop.addresses(of: host, port: 1, resolver: NoResolver()))!)"
            }
            #expect(complaint("127.0.0.1\0").hasPrefix(#"host "127.0.0.1\0" contains "\0"; a name has"#))
            #expect(complaint("a\r\nb").hasPrefix(#"host "a\r\nb" contains "\r"; a name has"#))
            let label = String(repeating: "a", count: 64)
            #expect(
                complaint("x.\(label).y")
                    == "host \"x.\(label).y\" has a part of 64 bytes; each part of a name has at most 63")
            #expect(complaint("\u{202e}a").hasPrefix(#"host "\u{202E}a" is not ASCII; give"#))
            let long = String(repeating: "ab.", count: 1_000_000)
            #expect(
                complaint(long)
                    == "host \"\(long.prefix(253))\"… has 2999999 bytes; a name has at most 253")
        }
    }

    @Test("whatever is given for a host is an address, a well-formed name, or refused with one sentence")
    func anything() throws {
        var generator = SeededGenerator()
        var (addresses, names, refused) = (0, 0, 0)
        for _ in 0..<largeCount {
            let host = generator.host()
            do {
                switch try Host(host, port: 7) {
                case .numeric(let address):
                    addresses += 1
                    let again = try SocketAddress(host: address.host, port: 7)
                    #expect(again == address, "\(host)")
                case .localhost(let both):
                    #expect(both.count == 2)
                case .name(let name):
                    names += 1
                    #expect(name == host && name.utf8.count <= 254 && !name.utf8.contains(0))
                }
            } catch {
                refused += 1
                guard case .invalidArgument(let sentence) = error as? FutureError,
                    sentence.hasPrefix("host \""), sentence.utf8.count < 3000,
                    !sentence.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
                else {
                    Issue.record("\(host.debugDescription): \(error)")
                    continue
                }
            }
        }
        #expect(min(addresses, names, refused) > largeCount / 100, "\(addresses) \(names) \(refused)")
    }

    @Test(
        "connecting to what is no address fails, in the same way for whatever is given",
        arguments: TestNetwork.allCases)
    func connects(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var generator = SeededGenerator()
            for _ in 0..<largeCount / 100 {
                let host = generator.host()
                guard (try? SocketAddress(host: host, port: 1)) == nil else { continue }
                let connecting = TCPConnection.connect(
                    host: host, port: 0, timeout: .zero, resolver: FixedResolver([]), on: loop)
                #expect(loop.failure(of: connecting) != nil, "\(host)")
            }
            #expect(loop.statistics.timers == 0)
        }
    }
}

extension SeededGenerator {
    private static let hosts = [
        "127.0.0.1", "255.255.255.255", "::1", "fe80::1%lo", "2001:db8::ffff:192.0.2.1", "1:2:3:4:5:6:7:8",
        "0000:0000:0000:0000:0000:ffff:255.255.255.255%1", "localhost", "example.com",
        "a-b_c.xn--bcher-kva.example.",
        "[::1]:80", "1.2.3", "0x7f000001", String(repeating: "abcdefghi.", count: 26), "",
    ]

    private static let pieces = [
        "\0", ".", "..", ":", "::", "%", "%lo", "[", "]", " ", "1", "0", "255", "256", "f", "ffff", "-", "_",
        "ä",
        "\u{7f}", "\n", "127.0.0.1", String(repeating: "a", count: 64), "0x", "/", "\u{202e}",
    ]

    /// A host that is changed in up to four places, or put together from pieces, or random bytes.
    mutating func host() -> String {
        switch below(8) {
        case 0: return String(decoding: bytes(below(300)), as: UTF8.self)
        case 1: return (0..<below(12)).map { _ in Self.pieces[below(Self.pieces.count)] }.joined()
        default:
            var host = Array(Self.hosts[below(Self.hosts.count)].unicodeScalars)
            for _ in 0..<below(5) {
                let place = below(host.count + 1)
                let piece = Self.pieces[below(Self.pieces.count)]
                switch below(3) {
                case 0: host.insert(contentsOf: piece.unicodeScalars, at: place)
                case 1 where place < host.count: host.remove(at: place)
                case 2 where place < host.count: host[place] = UnicodeScalar(UInt8(below(128)))
                default: break
                }
            }
            return String(String.UnicodeScalarView(host))
        }
    }

    @Test(
        "a text that is no host is refused in time that its size is in proportion to",
        arguments: ["a", ".", "a.", ":", "[", "://", ":/", "%", "1", "::%", "\u{FC}", "\0"])
    func growth(part: String) {
        expectLinear(from: 1024, upTo: 1 << 20) { size in
            let text = String(repeating: part, count: size / part.utf8.count)
            return { _ = try? Host(text, port: 1) }
        }
    }
}
