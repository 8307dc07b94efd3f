import FoundationEssentials
import TestSupport
import Testing

@testable import ByteStreams

/// What is read of bytes that come in pieces, and end with what was waited for.
enum Drip: CaseIterable {
    case exactBytes, line, delimiter, repeatedDelimiter, everything, lengthPrefix

    /// Returns what takes a message of `size` bytes from a buffer, when it is there.
    func take(_ size: Int) -> (InboundBuffer) throws -> Data?? {
        switch self {
        case .exactBytes: return ExactBytes(count: size).take
        case .line:
            var line = Line(limit: size)
            return { try line.take(from: $0) }
        case .delimiter, .repeatedDelimiter:
            let delimiter = self == .delimiter ? [UInt8]("ab".utf8) : [UInt8](repeating: 0, count: 64) + [1]
            var bytes = DelimitedBytes(search: DelimiterSearch(delimiter), limit: size)
            return { try bytes.take(from: $0) }
        case .everything: return EverythingLeft(limit: size).take
        case .lengthPrefix:
            let search = MessageSearch(DecoderState(LengthPrefixDecoder(.uint32, limit: .max)))
            return { buffer in
                repeat {
                    let (block, start) = buffer.block(0)
                    let bytes = block.bytes.extracting(droppingFirst: start)
                    if let size = try search.size(in: bytes, of: buffer, nil) { return buffer.take(size) }
                } while try search.goesOn(in: buffer)
                return nil
            }
        }
    }
}

struct DripTests {
    @Test(
        "a message costs time in proportion to its bytes, in whatever pieces they come",
        arguments: Drip.allCases, [1, 2100])
    func pieces(_ drip: Drip, _ piece: Int) {
        expectLinear(from: 256, upTo: piece == 1 ? 1 << 20 : 1 << 14) { count in
            // The length of a message that never comes to its end is more than all of it.
            let (start, next) = (Data([4, 0, 0, 0]), Data(count: piece))
            let take = drip.take(count * (piece + 4))
            return { () throws in
                let buffer = InboundBuffer()
                for index in 0..<count {
                    buffer.append(index == 0 ? start : next)
                    #expect(try take(buffer) == nil)
                }
            }
        }
    }

    @Test("many lines behind many blocks cost time in proportion to their number")
    func lines() {
        expectLinear(from: 16, upTo: 4096) { count in
            let block = Data(String(repeating: "123456789\n", count: 500).utf8)
            return { () throws in
                let buffer = InboundBuffer()
                for _ in 0..<count { buffer.append(block) }
                for _ in 0..<500 * count {
                    var line = Line(limit: 100)
                    #expect(try line.take(from: buffer)??.count == 9)
                }
                #expect(buffer.isEmpty)
            }
        }
    }
}
