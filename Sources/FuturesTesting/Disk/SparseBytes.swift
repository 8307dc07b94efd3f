internal import FoundationEssentials

/// The contents of a file. Ranges that were never written take no memory.
struct SparseBytes {
    private static let pageSize = 4096

    private(set) var count = 0
    /// The written pages by their numbers. Each page stores its first bytes, and zeros follow.
    private var pages: [Int: [UInt8]] = [:]

    var all: Data { read(count, at: 0) }

    /// The number of bytes in memory, or of space on a disk.
    var storedCount: Int { pages.values.reduce(0) { $0 + $1.count } }

    /// Returns the number of bytes by which `storedCount` grows if the bytes of `range` are written.
    func growth(by range: Range<Int>) -> Int {
        Self.parts(of: range).reduce(0) { $0 + max(0, $1.inPage.upperBound - (pages[$1.page]?.count ?? 0)) }
    }

    /// Returns at most `count` bytes from `offset`, and fewer at the end of the file.
    func read(_ count: Int, at offset: Int) -> Data {
        let end = offset + min(count, max(0, self.count - offset))
        var bytes = Data(capacity: end - offset)
        for (page, range) in Self.parts(of: offset..<end) {
            let stored = pages[page] ?? []
            bytes.append(
                contentsOf: stored[min(range.lowerBound, stored.count)..<min(range.upperBound, stored.count)])
            bytes.append(
                Data(count: range.count - max(0, min(range.upperBound, stored.count) - range.lowerBound)))
        }
        return bytes
    }

    mutating func write(_ bytes: Data, at offset: Int) {
        var rest = bytes
        for (page, range) in Self.parts(of: offset..<offset + bytes.count) {
            let part = rest.prefix(range.count)
            rest = rest.dropFirst(range.count)
            Self.write(part, at: range.lowerBound, to: &pages[page, default: []])
        }
        count = max(count, offset + bytes.count)
    }

    private static func write(_ bytes: Data, at offset: Int, to page: inout [UInt8]) {
        if page.count < offset { page.append(contentsOf: repeatElement(0, count: offset - page.count)) }
        page.replaceSubrange(offset..<min(page.count, offset + bytes.count), with: bytes)
    }

    mutating func resize(to size: Int) {
        if size < count {
            pages = pages.filter { $0.key * Self.pageSize < size }
            let (page, length) = size.quotientAndRemainder(dividingBy: Self.pageSize)
            if let last = pages[page], last.count > length { pages[page] = Array(last.prefix(length)) }
        }
        count = size
    }

    /// The parts of `range` in each page.
    private static func parts(of range: Range<Int>) -> some Sequence<(page: Int, inPage: Range<Int>)> {
        let pages =
            range.isEmpty ? 0..<0 : range.lowerBound / pageSize..<(range.upperBound - 1) / pageSize + 1
        return pages.lazy.map { page in
            let inPage = range.clamped(
                to: page * pageSize..<min(Int.max - pageSize, page * pageSize) + pageSize)
            return (page, inPage.lowerBound - page * pageSize..<inPage.upperBound - page * pageSize)
        }
    }
}
