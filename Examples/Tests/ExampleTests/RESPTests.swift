import ByteStreams
import Foundation
import Testing

@testable import RESP

struct RESPTests {
    /// What a decoder says of `text` that comes in these pieces: the words of each command, and the error.
    private func decode(_ text: [UInt8], cutAt cuts: [Int]) -> [String] {
        var decoder = RESPCommandDecoder(longestWord: 100)
        var (buffer, seen): ([UInt8], [String]) = ([], [])
        var start = 0
        for end in cuts + [text.count] {
            buffer += text[start..<end]
            start = end
            while !buffer.isEmpty {
                do {
                    let bytes = buffer
                    guard let frame = try decoder.decode(bytes.span.bytes, isAtEnd: false) else { break }
                    seen.append(words(of: frame.frame, bytes))
                    buffer.removeFirst(frame.byteCount)
                } catch {
                    return seen + ["\(error)"]
                }
            }
        }
        return seen + (buffer.isEmpty ? [] : ["…"])
    }

    private func words(of command: RESPCommand, _ bytes: [UInt8]) -> String {
        command.words.map { String(decoding: (command.line ?? bytes)[$0], as: UTF8.self) }.joined(
            separator: "|")
    }

    private static let table: [(String, [String])] = [
        ("*1\r\n$4\r\nPING\r\n", ["PING"]),
        ("*2\r\n$3\r\nGET\r\n$0\r\n\r\n", ["GET|"]),
        ("*2\r\n$3\r\nGET\r\n$4\r\n\r\n\r\n\r\n", ["GET|\r\n\r\n"]),
        ("*1\n$4\nPING\r\n", ["PING"]),
        ("*0\r\n*-1\r\n*1\r\n$1\r\nx\r\n", ["", "", "x"]),
        ("PING\r\nGET  a \n\r\n", ["PING", "GET|a", ""]),
        ("SET a \"x y\\n\\x41\\\"\" 'b\\'c' d\r\nGET a\r\n", ["SET|a|x y\nA\"|b'c|d", "GET|a"]),
        ("ECHO \"\\q\\xzz\\t\\r\\b\\a\"\r\n", ["ECHO|qxzz\t\r\u{8}\u{7}"]),
        ("ECHO ''\r\n", ["ECHO|"]),
        ("*2\r\n$3\r\nGET\r\n$1\r\n", ["…"]),
        ("*3", ["…"]),
        // What nobody can understand.
        ("*x\r\n", ["Protocol error: invalid multibulk length"]),
        ("*\r\n", ["Protocol error: invalid multibulk length"]),
        ("*01\r\n", ["Protocol error: invalid multibulk length"]),
        ("*+1\r\n", ["Protocol error: invalid multibulk length"]),
        ("*1048577\r\n", ["Protocol error: invalid multibulk length"]),
        ("*99999999999999999999\r\n", ["Protocol error: invalid multibulk length"]),
        ("*1\r\nPING\r\n", ["Protocol error: expected '$', got 'P'"]),
        ("*1\r\n$x\r\n", ["Protocol error: invalid bulk length"]),
        ("*1\r\n$-1\r\n", ["Protocol error: invalid bulk length"]),
        ("*1\r\n$101\r\n", ["Protocol error: invalid bulk length"]),
        ("*1\r\n$\r\n", ["Protocol error: invalid bulk length"]),
        ("*1\r\n$2\r\nabc\r\n", ["Protocol error: expected the end of a line behind 2 bytes"]),
        ("*1\r\n$4\r\nPING\rx", ["Protocol error: expected the end of a line behind 4 bytes"]),
        ("GET \"a\r\n", ["Protocol error: unbalanced quotes in request"]),
        ("GET 'a\r\n", ["Protocol error: unbalanced quotes in request"]),
        ("GET \"a\"b\r\n", ["Protocol error: unbalanced quotes in request"]),
        ("PING\r\n*1\r\n$1\r\na\r\n*y\r\n", ["PING", "a", "Protocol error: invalid multibulk length"]),
    ]

    @Test("commands and mistakes are found, wherever the bytes are cut", arguments: table)
    func found(_ text: String, _ expected: [String]) {
        let bytes = Array(text.utf8)
        #expect(decode(bytes, cutAt: []) == expected)
        for cut in 0...bytes.count { #expect(decode(bytes, cutAt: [cut]) == expected, "cut at \(cut)") }
        #expect(decode(bytes, cutAt: Array(1..<max(1, bytes.count))) == expected, "byte by byte")
    }

    @Test("a line without an end is refused at 64 KiB, whatever it begins with")
    func longLines() {
        for (start, complaint) in [
            ("*", "too big mbulk count string"), ("*1\r\n$", "too big bulk count string"),
            ("a", "too big inline request"),
        ] {
            let text = Array(start.utf8) + [UInt8](repeating: 49, count: 65_540)
            #expect(decode(text, cutAt: []) == ["Protocol error: \(complaint)"])
            #expect(
                decode(text, cutAt: Array(stride(from: 1, to: text.count, by: 1000))).last?.hasSuffix(
                    complaint) == true)
        }
    }

    @Test("numbers have one form")
    func integers() {
        for (text, number) in [
            ("0", 0), ("-1", -1), ("10", 10), ("9223372036854775807", Int.max),
            ("-9223372036854775808", Int.min),
        ] as [(String, Int?)]
            + ["", "-", "+1", "01", "-0", "1 ", " 1", "1x", "9223372036854775808", "1e3"].map({ ($0, nil) })
        {
            let bytes = Array(text.utf8)
            #expect(bytes.span.bytes.integer(in: 0..<bytes.count) == number, "\(text)")
        }
        for number in [0, 7, 10, -1, 100, -987_654, .max, .min] {
            var bytes: [UInt8] = []
            bytes.appendNumber(number)
            #expect(String(decoding: bytes, as: UTF8.self) == String(number))
        }
    }

    @Test("anything that comes gives commands or an error, the same however it is cut")
    func anything() {
        var random = SystemRandomNumberGenerator()
        let seeds = Self.table.map { Array($0.0.utf8) }
        for _ in 0..<(ProcessInfo.processInfo.environment["SOAK"] == nil ? 20_000 : 1_000_000) {
            var text = seeds.randomElement(using: &random)! + seeds.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: text.insert(Array("*$\r\n019\"'\\x".utf8).randomElement(using: &random)!, at: place)
                default: if text.count > 1 { text.remove(at: place) }
                }
            }
            let whole = decode(text, cutAt: [])
            let cut = Int.random(in: 0...text.count, using: &random)
            #expect(decode(text, cutAt: [cut]) == whole, "\(text) cut at \(cut)")
        }
    }
}
