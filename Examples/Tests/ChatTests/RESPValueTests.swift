import ByteStreams
import Testing

@testable import RESP

struct RESPValueTests {
    private static let table: [(String, [String])] = [
        ("+OK\r\n", ["+OK"]),
        ("-ERR no\r\n:-5\r\n", ["-ERR no", ":-5"]),
        ("$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n", ["$a\r\n", "$", "null"]),
        ("*0\r\n*-1\r\n", ["[]", "null"]),
        ("*2\r\n:1\r\n*2\r\n$1\r\nx\r\n*1\r\n*0\r\n+end\r\n", ["[:1,[$x,[[]]]]", "+end"]),
        (
            "*1\r\n*2\r\n$1\r\nk\r\n*1\r\n*2\r\n$3\r\n5-0\r\n*2\r\n$1\r\nf\r\n$-1\r\n",
            ["[[$k,[[$5-0,[$f,null]]]]]"]
        ),
        ("*2\r\n:1\r\n", ["…"]),
        ("$5\r\nabc", ["…"]),
        ("x", ["…"]),
        // What nobody can understand.
        ("x\r\n", ["Protocol error: an answer begins with 'x'"]),
        ("\r\n", ["Protocol error: an answer begins with an empty line"]),
        ("+OK\n", ["Protocol error: a line does not end with CR LF"]),
        (":1.5\r\n", ["Protocol error: invalid integer"]),
        ("$-2\r\n", ["Protocol error: invalid bulk length"]),
        ("$1001\r\n", ["Protocol error: invalid bulk length"]),
        ("*x\r\n", ["Protocol error: invalid multibulk length"]),
        ("$1\r\nabc\r\n", ["Protocol error: expected the end of a line behind 1 bytes"]),
        (String(repeating: "*1\r\n", count: 17), ["Protocol error: arrays are too deep in each other"]),
        ("+" + String(repeating: "x", count: 65_537), ["Protocol error: a line is too long"]),
    ]

    @Test("answers are found as they are, wherever the bytes are cut", arguments: table)
    func decoding(_ text: String, _ expected: [String]) {
        let bytes = Array(text.utf8)
        #expect(decode(bytes, cutAt: []) == expected)
        guard bytes.count < 1000 else { return }
        for cut in 0...bytes.count { #expect(decode(bytes, cutAt: [cut]) == expected, "cut at \(cut)") }
        #expect(decode(bytes, cutAt: Array(0...bytes.count)) == expected, "byte by byte")
    }

    private func decode(_ text: [UInt8], cutAt cuts: [Int]) -> [String] {
        var decoder = RESPValueDecoder(maximumSize: 1000)
        var (buffer, seen): ([UInt8], [String]) = ([], [])
        var start = 0
        for end in cuts + [text.count] {
            buffer += text[start..<end]
            start = end
            while !buffer.isEmpty {
                do {
                    let bytes = buffer
                    guard let frame = try decoder.decode(bytes.span.bytes, isAtEnd: false) else { break }
                    seen.append(describe(frame.frame))
                    buffer.removeFirst(frame.byteCount)
                } catch {
                    return seen + ["\(error)"]
                }
            }
        }
        return seen + (buffer.isEmpty ? [] : ["…"])
    }

    private func describe(_ value: RESPValue) -> String {
        switch value {
        case .status(let text): "+\(text)"
        case .error(let text): "-\(text)"
        case .integer(let number): ":\(number)"
        case .bulk(let bytes): "$\(String(decoding: bytes, as: UTF8.self))"
        case .array(let elements): "[\(elements.map(describe).joined(separator: ","))]"
        case .null: "null"
        }
    }
}
