internal import FoundationEssentials

/// The bytes that have arrived and that nobody has read yet, in the blocks in which they came.
final class InboundBuffer {
    /// The size up to which small blocks are put together. Otherwise their headers would outweigh the bytes.
    static let coalescedSize = 4096

    /// The first block. Its first `offset` bytes have been taken. A lone block needs no array.
    private var head = Data()
    private var offset = 0
    private var tail: [Data] = []
    private var tailStart = 0
    private(set) var count = 0
    /// Whether the peer has finished: nothing will be appended any more.
    var isAtEnd: Bool

    init(isAtEnd: Bool = false) { self.isAtEnd = isAtEnd }

    var isEmpty: Bool { count == 0 }

    /// Adds `block`. Its `startIndex` is 0.
    func append(_ block: Data) {
        if count == 0 {
            head = block
        } else if let last = tail.last {
            if last.count + block.count <= Self.coalescedSize {
                tail[tail.count - 1].append(block)
            } else {
                tail.append(block)
            }
        } else if head.count + block.count <= Self.coalescedSize {
            head.append(block)
        } else {
            tail.append(block)
        }
        count += block.count
    }

    /// Takes the next bytes, as many as lie in one block. Returns no bytes if there are none.
    func takeBlock() -> Data { take(head.count - offset) }

    func takeAll() -> Data { take(count) }

    /// Takes the next `size` bytes. There are at least that many. `startIndex` is 0.
    func take(_ size: Int) -> Data {
        let available = head.count - offset
        guard size > available else {
            let taken = headSlice(size)
            drop(size, leaving: available - size)
            return taken
        }
        var taken = Data(capacity: size)
        while taken.count < size {
            let part = min(size - taken.count, head.count - offset)
            taken.append(head[offset..<offset + part])
            drop(part, leaving: head.count - offset - part)
        }
        return taken
    }

    func removeAll() {
        head = Data()
        offset = 0
        tail = []
        tailStart = 0
        count = 0
    }

    func discard(_ size: Int) {
        var left = size
        while left > 0 {
            let part = min(left, head.count - offset)
            drop(part, leaving: head.count - offset - part)
            left -= part
        }
    }

    /// The byte at `index`, counted from the next byte to be read.
    subscript(index: Int) -> UInt8 {
        var index = index
        for block in 0..<blockCount {
            let (data, start) = self.block(block)
            if index < data.count - start { return data[start + index] }
            index -= data.count - start
        }
        preconditionFailure("index out of range")
    }

    var blockCount: Int { 1 + tail.count - tailStart }

    /// Returns a block, and where in it the unread bytes start.
    func block(_ index: Int) -> (data: Data, start: Int) {
        index == 0 ? (head, offset) : (tail[tailStart + index - 1], 0)
    }

    /// Returns the first `size` unread bytes of the first block. A whole block, or the better part of it, shares its
    /// memory. Less is copied, so that a few bytes never hold a large block. Bytes that do not start with the block
    /// are copied too, for their `startIndex` would not be 0.
    private func headSlice(_ size: Int) -> Data {
        guard offset == 0, size * 2 >= head.count else { return head.subdata(in: offset..<offset + size) }
        return size == head.count ? head : head[0..<size]
    }

    private func drop(_ size: Int, leaving rest: Int) {
        count -= size
        guard rest == 0 else {
            offset += size
            return
        }
        offset = 0
        if tailStart < tail.count {
            head = tail[tailStart]
            tail[tailStart] = Data()
            tailStart += 1
            if tailStart * 2 >= tail.count {
                tail = Array(tail[tailStart...])
                tailStart = 0
            }
        } else {
            head = Data()
        }
    }
}
