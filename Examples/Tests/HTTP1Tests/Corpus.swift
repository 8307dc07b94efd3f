import Foundation
import HTTP1

/// A message of `Corpus/corpus.txt`: what it is, what is made of it here, what llhttp makes of it, and its bytes.
struct CorpusMessage {
    let kind: MessageKind
    let verdict: String
    let llhttp: String
    let text: String
    let bytes: [UInt8]
}

enum MessageKind: String {
    case request
    case response
    /// A response to `HEAD`.
    case headResponse = "head-response"
}

enum Corpus {
    static let messages: [CorpusMessage] = {
        let said = lines("llhttp.txt")
        return lines("corpus.txt").filter { !$0.hasPrefix("#") }.enumerated().map { index, line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return CorpusMessage(
                kind: MessageKind(rawValue: parts[0])!, verdict: parts[1], llhttp: said[index],
                text: parts[2],
                bytes: unescaped(parts[2]))
        }
    }()

    /// Why one of the two accepts what the other refuses, or understands it in another way: by what both say.
    static let differences = reasons("differences.txt")

    /// Why neither llhttp nor h11 says what is said here: by what is said here, and by llhttp.
    static let alone = reasons("alone.txt")

    private static func reasons(_ name: String) -> [[String]] {
        lines(name).filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: " ", maxSplits: 2).map(String.init)
        }
    }

    private static func lines(_ name: String) -> [String] {
        String(decoding: try! Data(contentsOf: file(name)), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    static func file(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(name)")
    }

    /// The line that stands for `bytes`.
    static func escaped(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let isPlain = (0x20...0x7e).contains(byte) && !"\\{".utf8.contains(byte)
            return isPlain
                ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The bytes that a line stands for. `{TEXT*COUNT}` is TEXT so many times.
    static func unescaped(_ line: String) -> [UInt8] {
        let repeated = line.replacing(/\{([^{}]*)\*(\d+)\}/) { match in
            String(repeating: String(match.1), count: Int(match.2)!)
        }
        var (bytes, rest) = ([UInt8](), repeated.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "r"): bytes.append(13)
            case UInt8(ascii: "n"): bytes.append(10)
            case UInt8(ascii: "t"): bytes.append(9)
            case UInt8(ascii: "0"): bytes.append(0)
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            default:
                bytes.append(UInt8(String(rest.prefix(2))!, radix: 16)!)
                rest = rest.dropFirst(2)
            }
        }
        return bytes
    }
}
