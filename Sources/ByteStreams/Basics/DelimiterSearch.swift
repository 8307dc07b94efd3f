internal import FoundationEssentials

/// A search for a delimiter in bytes that arrive in pieces. It looks at each byte only once (Knuth, Morris,
/// Pratt).
struct DelimiterSearch {
    private let delimiter: [UInt8]
    /// Element `n` says how many bytes of the delimiter still match when its first `n + 1` bytes have matched
    /// and the next byte has not.
    private let fallback: [Int]
    /// The number of bytes that the search has looked at.
    private var scanned = 0
    /// The number of bytes at the end of the scanned bytes that match the beginning of the delimiter.
    private var matched = 0

    /// Creates a search for `delimiter`, which is not empty.
    init(_ delimiter: some Sequence<UInt8>) {
        self.delimiter = Array(delimiter)
        fallback = Self.fallback(of: self.delimiter)
    }

    var delimiterCount: Int { delimiter.count }

    /// The number of bytes before the place where the delimiter may begin.
    var passed: Int { scanned - matched }

    /// Returns the number of bytes before the delimiter, or `nil` if the delimiter is not in `buffer` yet.
    /// Between two calls, bytes may be appended to `buffer`, but no bytes may be taken from it.
    mutating func position(in buffer: InboundBuffer) -> Int? {
        var (number, base) = buffer.blockNumber(at: scanned)
        while number < buffer.blockCount {
            let (block, start) = buffer.block(number)
            if scan(block.bytes, from: start + scanned - base) { return passed }
            base += block.count - start
            number += 1
        }
        return nil
    }

    /// Whether `bytes` end with the delimiter, and have no other one before.
    func isOnlyAtEnd(of bytes: RawSpan) -> Bool {
        var search = self
        return search.scan(bytes, from: 0) && search.scanned == bytes.byteCount
    }

    private mutating func scan(_ bytes: RawSpan, from start: Int) -> Bool {
        let first = delimiter[0]
        var index = start
        while index < bytes.byteCount {
            let byte = bytes.byte(at: index)
            index += 1
            if matched == 0, byte != first { continue }
            while matched > 0, delimiter[matched] != byte { matched = fallback[matched - 1] }
            if delimiter[matched] == byte { matched += 1 }
            if matched == delimiter.count { break }
        }
        scanned += index - start
        return matched == delimiter.count
    }

    private static func fallback(of delimiter: [UInt8]) -> [Int] {
        guard delimiter.count > 1 else { return [] }
        var table = [Int](repeating: 0, count: delimiter.count)
        var matched = 0
        for index in 1..<delimiter.count {
            while matched > 0, delimiter[matched] != delimiter[index] { matched = table[matched - 1] }
            if delimiter[matched] == delimiter[index] { matched += 1 }
            table[index] = matched
        }
        return table
    }
}
