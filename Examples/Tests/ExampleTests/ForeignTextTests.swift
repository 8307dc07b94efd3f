import Foundation
import Testing

@testable import Lookup

/// What others send to programs that print it.
struct ForeignTextTests {
    @Test(arguments: [
        ("", "\"\""), ("v=spf1 -all;", "\"v=spf1 -all;\""), ("a\"b\\c", #""a\"b\\c""#),
        ("\u{1b}[31m\u{0}\r\n", #""\027[31m\000\013\010""#), ("ä\u{7f}~", #""\195\164\127~""#),
    ])
    func `a text is written as dig writes it`(_ text: String, _ expected: String) {
        #expect(zoneText(Data(text.utf8)) == expected)
    }
}
