internal import FoundationEssentials

/// Looks for a delimiter in bytes that arrive in pieces, and looks at none of them twice (Knuth, Morris, Pratt).
struct DelimiterSearch {
    private let delimiter: [UInt8]
    /// For each `n`, how much of the delimiter still matches when the byte after its first `n + 1` bytes does not.
    private let fallback: [Int]
    private var scanned = 0
    /// The number of last bytes scanned that are the beginning of the delimiter.
    private var matched = 0

    /// Creates a search for `delimiter`, which is not empty.
    init(_ delimiter: some Sequence<UInt8>) {
        self.delimiter = Array(delimiter)
        fallback = Self.fallback(of: self.delimiter)
    }

    var delimiterCount: Int { delimiter.count }

    /// The number of bytes that are certainly not part of the delimiter.
    var passed: Int { scanned - matched }

    /// Returns where the delimiter starts, or `nil` if it is not in `buffer` yet. Nothing is taken from `buffer`
    /// between calls.
    mutating func position(in buffer: InboundBuffer) -> Int? {
        var base = 0
        for index in 0..<buffer.blockCount {
            let (block, start) = buffer.block(index)
            let size = block.count - start
            if base + size > scanned, scan(block, from: start + scanned - base) {
                return scanned - delimiter.count
            }
            base += size
        }
        return nil
    }

    private mutating func scan(_ block: Data, from start: Int) -> Bool {
        let bytes = block.span
        let first = delimiter[0]
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
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
