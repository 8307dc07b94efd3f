internal import CFuturesSystem
internal import FoundationEssentials
internal import Glibc

/// The memory that all connections of a loop read into, one after the other.
@safe
struct UVReadBlock: ~Copyable {
    /// A common size of writes is 16 KiB. That is half of this size, so `take` hands over the block.
    private static let initialSize = 32 * 1024
    private static let maximumSize = 256 * 1024
    /// The sizes for which the memory of a copy is reused. Smaller bytes fit inside a `Data`. If larger bytes
    /// are still in use, `Data` would copy them needlessly before the reuse.
    private static let reusedSizes = 15...1024

    private var base: UnsafeMutableRawPointer?
    /// The last copy. The next copy of the same size reuses the memory, if nothing else uses that memory any
    /// more.
    private var copy = Data()
    private var copySize = 0
    private(set) var size = initialSize
    /// The number of reads in a row that have filled the block.
    private(set) var filled = 0

    /// Returns the block, for libuv to read into.
    mutating func prepare() -> UnsafeMutableRawBufferPointer {
        guard let base = unsafe base else { return unsafe allocated() }
        return unsafe UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    /// Returns the first `count` bytes of the block. They are valid until the next read, or until `take`
    /// hands over the block.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }

    /// Returns the first `count` bytes. If they are at least half of the block, hands over the block itself,
    /// or else makes a copy.
    mutating func take(_ count: Int) -> Data { count < size >> 1 ? copied(count) : handedOver(count) }

    // The rare cases are functions of their own, which makes the common path shorter.

    @inline(never)
    private mutating func allocated() -> UnsafeMutableRawBufferPointer {
        unsafe base = malloc(size)
        return unsafe UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    @inline(never)
    private mutating func handedOver(_ count: Int) -> Data {
        defer { unsafe base = nil }
        return unsafe Data(bytesNoCopy: base!, count: count, deallocator: .free)
    }

    /// Returns a copy. `Data` copies bytes that are still in use before they are overwritten.
    private mutating func copied(_ count: Int) -> Data {
        guard count == copySize else { return newCopy(count) }
        let base = unsafe base!
        unsafe copy.withUnsafeMutableBytes { unsafe _ = memcpy($0.baseAddress!, base, count) }
        return copy
    }

    @inline(never)
    private mutating func newCopy(_ count: Int) -> Data {
        let data = unsafe Data(bytes: base!, count: count)
        if Self.reusedSizes.contains(count) { (copy, copySize) = (data, count) }
        return data
    }

    /// Notes a read of `count` bytes.
    mutating func noteRead(_ count: Int) { if count == size { noteFullRead() } else { noteRead() } }

    /// Notes that a read has not filled the block.
    @inline(__always)
    mutating func noteRead() { filled = 0 }

    /// Notes that a read has filled the block. After every second such read in a row, doubles the block, which loses
    /// its content.
    mutating func noteFullRead() {
        filled += 1
        guard filled.isMultiple(of: 2), size < Self.maximumSize else { return }
        unsafe free(base)
        unsafe base = nil
        size *= 2
    }

    deinit { unsafe free(base) }
}
