internal import FoundationEssentials
internal import Glibc

/// The memory that all connections of a loop read into, one after the other.
@safe
struct UVReadBlock: ~Copyable {
    /// Small enough that 16 KiB, a common size of writes, are half of it and handed over.
    private static let initialSize = 32 * 1024
    private static let maximumSize = 256 * 1024
    /// From sizes that do not fit inside a `Data` to sizes not worth a needless copy.
    private static let reusedSizes = 15...1024

    private var base: UnsafeMutableRawPointer?
    /// The last copy. The next one of the same size reuses its memory, if nothing else has that any more.
    private var copy = Data()
    private var copySize = 0
    private var size = initialSize
    /// The number of reads in a row that have filled the block.
    private var filled = 0

    /// Returns the block, for libuv to read into.
    mutating func prepare() -> UnsafeMutableRawBufferPointer {
        guard let base = unsafe base else { return unsafe allocated() }
        return unsafe UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    /// Returns the first `count` bytes of the block, valid until the next read, or until `take` hands over the block.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }

    /// Takes the first `count` bytes: as a copy, or, if they are half of the block or more, as the block itself.
    mutating func take(_ count: Int) -> Data { count < size >> 1 ? copied(count) : handedOver(count) }

    // What is rare stands apart, which makes the way past it shorter.

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

    /// Grows the block where reads keep filling it. Its content is lost then.
    @inline(__always)
    mutating func noteRead(_ count: Int) {
        filled = count == size ? filled + 1 : 0
        if filled == 2, size < Self.maximumSize { grow() }
    }

    @inline(never)
    private mutating func grow() {
        unsafe free(base)
        unsafe base = nil
        size *= 2
        filled = 0
    }

    deinit { unsafe free(base) }
}
