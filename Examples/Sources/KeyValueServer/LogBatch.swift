import Foundation
import UVFutures

/// Finds the batches of a log: a line such as `#B:120:0a1b2c3d`, which Redis takes for a comment, and as many bytes as it says.
struct LogBatchDecoder: StreamDecoder {
    struct Frame {
        let changes: Range<Int>
        let checksum: UInt32
    }

    /// The line is not one of a batch.
    struct NoBatch: Error {}

    let maximumSize = Int.max
    /// The batch that is not complete yet, once its line is known.
    private var next: Frame?

    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Frame>? {
        guard let frame = try next ?? readHeader(bytes) else { return nil }
        let size = frame.changes.upperBound
        next = bytes.byteCount < size ? frame : nil
        return next == nil ? DecodedFrame(frame, byteCount: size) : nil
    }

    private func readHeader(_ bytes: RawSpan) throws -> Frame? {
        let line = bytes.array(0..<min(bytes.byteCount, LogBatch.longestHeader))
        guard line.starts(with: LogBatch.mark.prefix(line.count)) else { throw NoBatch() }
        guard let end = line.firstIndex(of: 10) else {
            guard line.count < LogBatch.longestHeader else { throw NoBatch() }
            return nil
        }
        let parts = String(decoding: line[..<end].dropLast(), as: UTF8.self).split(separator: ":")
        guard parts.count == 3, line[end - 1] == 13, let length = Int(parts[1]),
            (1..<1 << 40).contains(length),
            parts[2].utf8.count == 8, let checksum = UInt32(parts[2], radix: 16)
        else { throw NoBatch() }
        return Frame(changes: end + 1..<end + 1 + length, checksum: checksum)
    }
}

enum LogBatch {
    static let mark = Array("#B:".utf8)
    static let longestHeader = 32

    /// The bytes of a batch with these changes.
    static func bytes(of changes: [UInt8]) -> Data {
        let sum = String(checksum(changes.span.bytes), radix: 16)
        let digits = String(repeating: "0", count: 8 - sum.count) + sum
        var batch = Data(capacity: changes.count + longestHeader)
        batch.append(contentsOf: "#B:\(changes.count):\(digits)\r\n".utf8)
        batch.append(contentsOf: changes)
        return batch
    }

    /// The changes in the bytes of a batch.
    static func changes(in batch: Data) -> [UInt8] { Array(batch[(batch.firstIndex(of: 10)! + 1)...]) }

    /// The CRC-32 of the bytes, as in zlib.
    static func checksum(_ bytes: RawSpan) -> UInt32 {
        var sum = UInt32.max
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBytes { bytes in
                for byte in bytes { sum = table[Int((sum ^ UInt32(byte)) & 255)] ^ sum >> 8 }
            }
        }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }
}
