internal import FoundationEssentials

/// The bytes that have arrived and have not been read, in the blocks in which they came.
final class InboundBuffer {
    /// The number of bytes up to which small blocks are joined, so that the headers of blocks take little
    /// memory.
    static let coalescedSize = 4096

    // Unchecked, since each use of the blocks would be checked at run time. No use of them runs user code.

    /// The first block. It is apart from the others because a single block then needs no array.
    @exclusivity(unchecked) private var head = Data()
    /// The number of bytes of `head` that have been taken.
    private var offset = 0
    /// The other blocks. The first `tailStart` of them are empty, because their bytes have been taken.
    @exclusivity(unchecked) private var tail: [Data] = []
    private var tailStart = 0
    private(set) var count = 0
    /// The number of bytes that have been taken so far.
    private(set) var taken = 0
    /// Whether the peer has finished sending. Then nothing is appended any more.
    var isAtEnd: Bool

    /// The part that is kept of a line longer than its limit, while the rest of the line is dropped.
    var longLine: Data?
    /// The number of lines that were longer than their limits, and were cut or skipped.
    private(set) var longLineCount = 0

    init(isAtEnd: Bool = false) { self.isAtEnd = isAtEnd }

    var isEmpty: Bool { count == 0 }

    /// Adds `block`. Its `startIndex` is 0.
    func append(_ block: Data) {
        if count == 0 {
            unsafe head = block
        } else if unsafe (tail.last ?? head).count + block.count > Self.coalescedSize {
            unsafe tail.append(block)
        } else if unsafe tail.isEmpty {
            unsafe head.append(block)
        } else {
            unsafe tail[tail.count - 1].append(block)
        }
        count += block.count
    }

    /// Takes the bytes that are left of the first block. Returns empty data if there are no bytes.
    func takeBlock() -> Data { unsafe take(head.count - offset) }

    func takeAll() -> Data { take(count) }

    /// Takes the next `size` bytes. The buffer holds at least that many. The `startIndex` of the result is 0.
    func take(_ size: Int) -> Data {
        if unsafe size <= head.count - offset {
            defer { drop(size) }
            return headSlice(size)
        }
        var taken = Data(capacity: size)
        while taken.count < size {
            let part = unsafe min(size - taken.count, head.count - offset)
            unsafe taken.append(head[offset..<offset + part])
            drop(part)
        }
        return taken
    }

    /// Removes the next `size` bytes. The buffer holds at least that many.
    func discard(_ size: Int) {
        var left = size
        while left > 0 {
            let part = unsafe min(left, head.count - offset)
            drop(part)
            left -= part
        }
    }

    /// Drops as much of the rest of a long line as has come. Returns whether the line has ended.
    func dropRestOfLine() -> Bool {
        let lineFeed = position(of: UInt8(ascii: "\n"), from: 0)
        discard(lineFeed.map { $0 + 1 } ?? count)
        guard lineFeed != nil || isAtEnd else { return false }
        longLine = nil
        longLineCount += 1
        return true
    }

    /// The byte at `index`, counted from the next byte to be read.
    subscript(index: Int) -> UInt8 {
        let (number, base) = blockNumber(at: index)
        let (data, start) = block(number)
        return data[start + index - base]
    }

    /// Returns the number of the block with the byte at `index`, or of the last block, and the bytes before it.
    ///
    /// Searches from the end, because the byte has mostly just come. Searching from the start for each block that comes
    /// would take time that grows with the square of the number of blocks.
    func blockNumber(at index: Int) -> (number: Int, base: Int) {
        if unsafe index < head.count - offset { return (0, 0) }
        var (number, base) = (blockCount, count)
        repeat {
            number -= 1
            let (data, start) = block(number)
            base -= data.count - start
        } while base > index
        return (number, base)
    }

    /// The index of the first `byte` at or after `start`, or `nil` if there is none.
    func position(of byte: UInt8, from start: Int) -> Int? {
        var (number, base) = blockNumber(at: start)
        while number < blockCount {
            let (data, first) = block(number)
            let bytes = data.bytes.extracting(droppingFirst: first)
            let skipped = min(max(start - base, 0), bytes.byteCount)
            if let found = bytes.extracting(droppingFirst: skipped).position(of: byte) {
                return base + skipped + found
            }
            base += bytes.byteCount
            number += 1
        }
        return nil
    }

    var blockCount: Int { unsafe 1 + tail.count - tailStart }

    /// Returns a block, and the index of its first unread byte.
    func block(_ index: Int) -> (data: Data, start: Int) {
        unsafe index == 0 ? (head, offset) : (tail[tailStart + index - 1], 0)
    }

    /// Puts the second block behind the first, so that their bytes are contiguous. Returns `false` if there is only one
    /// block. Together, all calls copy each byte a few times at most.
    func joinBlocks() -> Bool {
        guard unsafe tailStart < tail.count else { return false }
        if offset > 0 {
            unsafe head = head.subdata(in: offset..<head.count)
            offset = 0
        }
        unsafe head.append(tail[tailStart])
        dropFirstOfTail()
        return true
    }

    /// Returns the first `size` unread bytes of the first block. If these are at least half of the whole
    /// block and begin with its first byte, the result shares the memory of the block. Otherwise the bytes
    /// are copied. So a few bytes never keep a large block in memory, and the `startIndex` of the result is
    /// always 0.
    private func headSlice(_ size: Int) -> Data {
        guard offset == 0, unsafe size * 2 >= head.count else {
            return unsafe head.subdata(in: offset..<offset + size)
        }
        return unsafe size == head.count ? head : head[0..<size]
    }

    /// Removes the first `size` unread bytes of the first block.
    func drop(_ size: Int) {
        count -= size
        taken += size
        offset += size
        if unsafe offset < head.count { return }
        unsafe (head, offset) = (Data(), 0)
        guard unsafe tailStart < tail.count else { return }
        unsafe head = tail[tailStart]
        dropFirstOfTail()
    }

    private func dropFirstOfTail() {
        unsafe tail[tailStart] = Data()
        tailStart += 1
        if unsafe tailStart * 2 >= tail.count {
            unsafe tail = Array(tail[tailStart...])
            tailStart = 0
        }
    }
}
