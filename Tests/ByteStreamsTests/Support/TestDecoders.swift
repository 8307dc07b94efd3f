import ByteStreams
import FoundationEssentials
import TestSupport

/// Finds messages that end with a semicolon. A last one may do without, an exclamation mark is an error. It counts the
/// bytes that it looks at, and says what contradicts the contract of decoders.
final class SemicolonDecoder: StreamDecoder {
    struct Exclamation: Error, Equatable {}

    let maximumSize: Int
    let takesUnterminated: Bool
    private(set) var looked = 0
    private(set) var complaints: [String] = []
    private var scanned = 0
    /// The bytes of the last call, if the message was not complete.
    private var seen: [UInt8] = []

    init(maximumSize: Int = 65_536, takesUnterminated: Bool = false) {
        self.maximumSize = maximumSize
        self.takesUnterminated = takesUnterminated
    }

    func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Range<Int>>? {
        if bytes.isEmpty { complaints.append("no bytes") }
        // Only the first few, since this copies.
        if bytes.prefix(seen.count) != seen { complaints.append("other bytes than before") }
        while scanned < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: scanned, as: UInt8.self)
            if byte == UInt8(ascii: "!") {
                (scanned, seen) = (0, [])
                throw Exclamation()
            }
            (looked, scanned) = (looked + 1, scanned + 1)
            if byte == UInt8(ascii: ";") { return frame(scanned - 1) }
        }
        if isAtEnd, takesUnterminated { return frame(scanned) }
        seen = bytes.prefix(20)
        return nil
    }

    private func frame(_ end: Int) -> DecodedFrame<Range<Int>> {
        defer { (scanned, seen) = (0, []) }
        return DecodedFrame(0..<end, byteCount: scanned)
    }

    func message(from frame: Range<Int>, _ bytes: RawSpan) -> String { bytes.text(frame) }
}

/// Takes as many bytes as it was told to.
struct GreedyDecoder: StreamDecoder {
    let byteCount: Int

    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Int>? {
        DecodedFrame(bytes.byteCount, byteCount: byteCount)
    }
}

extension RawSpan {
    func prefix(_ count: Int) -> [UInt8] { Array(Data(copying: extracting(first: count))) }

    func text(_ range: Range<Int>) -> String {
        String(decoding: Data(copying: extracting(range)), as: UTF8.self)
    }
}
