import Futures
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSNameTests {
    @Test("a name is its labels with their lengths, with or without a dot at its end")
    func wire() throws {
        let wire: [UInt8] = [3, 119, 119, 119, 7, 101, 120, 97, 109, 112, 108, 101, 0]
        for text in ["www.example", "www.example."] { #expect(try DNSName(text).wire == wire) }
        #expect(try DNSName("_http._tcp.a-1").description == "_http._tcp.a-1")
    }

    @Test("upper and lower case are the same name")
    func cases() throws {
        let (a, b) = (try DNSName("WWW.Example"), try DNSName("www.eXAMPLE"))
        #expect(a == b && a.hashValue == b.hashValue && a.wire != b.wire)
        #expect(try DNSName("a.b") != DNSName("ab"))
        // The case bit of bytes that are no letters counts.
        #expect(DNSName(labels: [[0x40]]) != DNSName(labels: [[0x60]]))
        #expect(DNSName(labels: [[0x5B]]) != DNSName(labels: [[0x7B]]))
    }

    @Test("names are as long as they may be, and no longer")
    func lengths() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try DNSName(longest).wire.count == 255)
        let long = "a part of 64 bytes; each part of a name has at most 63"
        #expect(
            complaint { _ = try DNSName(label + "a.b") }
                == "the name \"\(label)a.b\" has \(long)")
        #expect(
            complaint { _ = try DNSName(longest + "b") }?.hasSuffix("has 254 bytes; a name has at most 253")
                == true)
    }

    @Test(
        "what is no name is refused with a sentence",
        arguments: [
            ("", "the name \"\" is empty; give a name or a numeric address"),
            (".", "the name \".\" has an empty part before or between its dots"),
            ("a..b", "the name \"a..b\" has an empty part before or between its dots"),
            (".a", "the name \".a\" has an empty part before or between its dots"),
            (
                "bücher.de",
                "the name \"b\\u{00FC}cher.de\" is not ASCII; give the name in its ASCII form, with xn--…"
            ),
            (
                "a\0b",
                "the name \"a\\0b\" contains \"\\0\"; a name has letters, digits, hyphens, underscores and dots"
            ),
            (
                "a b",
                "the name \"a b\" contains \" \"; a name has letters, digits, hyphens, underscores and dots"
            ),
            ("192.0.2.1", "\"192.0.2.1\" is an address, not a name; give a name, or call names(of:on:)"),
        ])
    func malformed(text: String, sentence: String) {
        #expect(complaint { _ = try DNSName(text) } == sentence)
    }

    @Test("bytes that are not visible, and dots within a label, are escaped")
    func escapes() {
        let name = DNSName(labels: [[0, 46, 92, 32, 200], Array("com".utf8)])
        #expect(name.description == "\\000\\.\\\\\\032\\200.com")
        #expect(DNSName(labels: []).description == ".")
    }

    @Test("random case changes letters only, and each of them sooner or later")
    func randomCase() throws {
        let name = try DNSName("abc-1.com")
        var random = SystemRandomNumberGenerator()
        let texts = Set((0..<200).map { _ in "\(name.withRandomCase(using: &random))" })
        #expect(texts.count > 30)
        #expect(texts.allSatisfy { $0.lowercased() == "abc-1.com" })
    }

    @Test("a name is within its domains, by whole labels")
    func within() throws {
        let name = try DNSName("a.LocalHost")
        #expect(try name.isWithin(DNSName("localhost")) && name.isWithin(name))
        #expect(try !DNSName("alocalhost").isWithin(DNSName("localhost")))
        #expect(try !DNSName("localhost").isWithin(name))
    }
}
