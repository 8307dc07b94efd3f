import Testing

@testable import Chat

struct SafeTextTests {
    @Test(arguments: [
        // Marks of direction, and what separates lines.
        ("a\u{202E}b", "ab"), ("\u{2066}a\u{2069}\u{200E}\u{200F}\u{061C}", "a"),
        ("a\u{2028}b\u{2029}c", "a b c"),
        // What cannot be seen.
        ("a\u{FEFF}\u{00AD}\u{2060}\u{200B}\u{2064}b", "ab"), ("a\u{FFF9}b\u{FFFA}c\u{FFFB}", "abc"),
        // What covers the lines above and below.
        ("Z" + String(repeating: "\u{0301}", count: 100) + "a", "Z\u{0301}\u{0301}\u{0301}\u{0301}a"),
        ("o\u{20DD}\u{20DE}\u{20DD}\u{20DE}\u{20DD}", "o\u{20DD}\u{20DE}\u{20DD}\u{20DE}"),
    ])
    func `what changes the lines of others is left out`(_ text: String, _ expected: String) {
        #expect(Array(text.withoutFormats.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test(arguments: [
        "hello", "Jürgen ä\u{0308}", "👨\u{200D}👩\u{200D}👧\u{200D}👦 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 👍🏽 🇩🇪",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "می\u{200C}خواهم", "\u{0601}١٩٩٨", "क्ष",
        "שָׁלוֹם", "ที่", "葛\u{E0100}",
    ])
    func `scripts and emoji stay as they are`(_ text: String) {
        #expect(Array(text.withoutFormats.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(arguments: ["a\u{202E}b", "\u{3164}", "\u{200B}", "a\u{2028}"])
    func `no name and no room has what cannot be seen`(_ word: String) throws {
        let chat = try MemoryChat()
        let member = try chat.connect()
        member.send("/name \(word)\n/join \(word)")
        let scalars = member.lines().dropFirst().joined().unicodeScalars
        #expect(!scalars.contains { $0.properties.isDefaultIgnorableCodePoint || $0.value == 0x2028 })
    }

    @Test func `others hear a message without formats`() throws {
        let chat = try MemoryChat()
        let members = try [chat.connect(), chat.connect()]
        for member in members { member.send("/join a") }
        _ = members.map { $0.lines() }
        members[0].send("one\u{202E}two\u{2028}three")
        #expect(members[1].lines() == ["guest1: onetwo three"])
    }
}
