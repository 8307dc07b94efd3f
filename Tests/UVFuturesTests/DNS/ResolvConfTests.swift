import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct ResolvConfTests {
    private func read(_ text: String) -> ResolvConf { ResolvConf(Array(text.utf8)) }

    @Test("an empty file stands for the server of this machine, and for the usual limits")
    func empty() {
        let conf = read("")
        #expect(conf.servers.map(\.description) == ["127.0.0.1:53"])
        #expect(conf.search.isEmpty && conf.dots == 1 && conf.timeout == .seconds(5))
        #expect(conf.attempts == 2 && !conf.rotates)
        #expect(read("nameserver\ndomain\nsearch\noptions") == conf)
    }

    @Test("servers, domains and options are read, and what makes no sense is passed over")
    func full() {
        let conf = read(
            """
            # a comment
            ; another
            nameserver 10.0.0.1
            nameserver\tfd00::1   # with a word behind it
            nameserver nobody
            nameserver 10.0.0.3\r
            nameserver 10.0.0.4
            domain old.example
            search corp.example.com example.com ..
            options ndots:3 timeout:2 attempts:4 rotate edns0 ndots: timeout:x attempts:-1
            sortlist 130.155.160.0
            nameserver
            options
            """)
        #expect(conf.servers.map(\.description) == ["10.0.0.1:53", "[fd00::1]:53", "10.0.0.3:53"])
        #expect(conf.search.map(\.description) == ["corp.example.com", "example.com"])
        #expect(conf.dots == 3 && conf.timeout == .seconds(2) && conf.attempts == 4 && conf.rotates)
    }

    @Test("options have the bounds that they have in other resolvers")
    func bounds() {
        let conf = read("options ndots:99 timeout:99 attempts:99")
        #expect(conf.dots == 15 && conf.timeout == .seconds(30) && conf.attempts == 5)
        #expect(read("options timeout:0 attempts:0").timeout == .seconds(5))
        #expect(read("options attempts:0").attempts == 2)
        #expect(read("options ndots:3:4").dots == 1)
    }

    @Test("the last of domain and search counts")
    func lastSearch() {
        #expect(read("search a b\ndomain c d").search.map(\.description) == ["c"])
        #expect(read("domain c\nsearch a b").search.map(\.description) == ["a", "b"])
    }

    @Test("a name with enough dots is tried as it is first, others in the domains first")
    func candidates() throws {
        let conf = read("search a.org b.org\noptions ndots:2")
        func names(_ name: String) throws -> [String] { try conf.candidates(for: name).map(\.description) }
        #expect(try names("x") == ["x.a.org", "x.b.org", "x"])
        #expect(try names("x.y") == ["x.y.a.org", "x.y.b.org", "x.y"])
        #expect(try names("x.y.z") == ["x.y.z", "x.y.z.a.org", "x.y.z.b.org"])
        #expect(try names("x.") == ["x"])
        let long = [String(repeating: "a", count: 63), String(repeating: "b", count: 63)].joined(
            separator: ".")
        #expect(try names("\(long).\(long)".dropLast(2).description).count == 1)
        // With the domain, the wire format of one has 255 bytes.
        let fits = "\(long).\(String(repeating: "c", count: 63)).\(String(repeating: "d", count: 55))"
        #expect(try names(fits).count == 3 && names(fits + "d").count == 1)
    }

    @Test("bytes of any kind are read without harm")
    func anyBytes() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(ResolvConf(bytes).servers.count == 1)
            #expect(HostsFile(bytes).addresses(of: "a").isEmpty)
        }
    }

    @Test(
        "a file is read in time that its size is in proportion to",
        arguments: ["nameserver 127.0.0.1\n", "search a b c\n", "search a ", "options ", "\n", " ", "#", "a"])
    func growth(part: String) {
        expectLinear(from: 1024, upTo: 1 << 20) { size in
            let bytes = Array(String(repeating: part, count: size / part.utf8.count).utf8)
            return { _ = ResolvConf(bytes) }
        }
    }
}
