import ByteStreams
import FoundationEssentials
import Futures
import Testing
import UVFutures

struct TextTests {
    static let badLines: [(String, String)] = [
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234\r\n", "there are 3 words after TCP4, and not 4"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234 443 \r\n", "there are 5 words after TCP4, and not 4"),
        ("PROXY TCP4  192.0.2.7 198.51.100.1 51234 443\r\n", "there are 5 words after TCP4, and not 4"),
        ("PROXY TCP4\r\n", "there are 0 words after TCP4, and not 4"),
        ("PROXY \r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY tcp4 192.0.2.7 198.51.100.1 51234 443\r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY UDP4 192.0.2.7 198.51.100.1 51234 443\r\n", "the family is neither TCP4, TCP6 nor UNKNOWN"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 51234 443\n", "the line ends without a carriage return"),
        ("PROXY TCP4 192.0.2 198.51.100.1 51234 443\r\n", "an address is not an IPv4 address"),
        ("PROXY TCP4 192.0.2.256 198.51.100.1 51234 443\r\n", "an address is not an IPv4 address"),
        ("PROXY TCP4 192.0.02.7 198.51.100.1 51234 443\r\n", "an address is not an IPv4 address"),
        ("PROXY TCP4 ::1 ::1 51234 443\r\n", "an address is not an IPv4 address"),
        ("PROXY TCP6 192.0.2.7 198.51.100.1 51234 443\r\n", "an address is not an IPv6 address"),
        ("PROXY TCP6 fe80::1%1 ::1 51234 443\r\n", "an address is not an IPv6 address"),
        ("PROXY TCP6 ::1::2 ::1 51234 443\r\n", "an address is not an IPv6 address"),
        ("PROXY TCP4 localhost 198.51.100.1 51234 443\r\n", "an address is not an IPv4 address"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n", "a port is not a number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 051234 443\r\n", "a port is not a number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 +1 443\r\n", "a port is not a number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 -1 443\r\n", "a port is not a number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1 1x 443\r\n", "a port is not a number from 0 to 65535"),
        ("PROXY TCP4 192.0.2.7 198.51.100.1  443\r\n", "a port is not a number from 0 to 65535"),
    ]

    @Test("a line that breaks a rule is refused with the rule", arguments: 0..<badLines.count)
    func wrongLine(index: Int) {
        let (line, text) = Self.badLines[index]
        #expect(refusal(Array(line.utf8)) == .malformed(.v1, text))
    }
}
