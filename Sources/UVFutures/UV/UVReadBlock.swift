internal import FoundationEssentials
internal import Glibc

/// The memory that all connections of a loop read into, one after another.
@safe
struct UVReadBlock: ~Copyable {
    /// Small enough that 16 KiB, which much software writes at a time, are half of it and handed over.
    private static let initialSize = 32 * 1024
    private static let maximumSize = 256 * 1024
    /// From what does not lie in a `Data` itself to what is not worth a needless copy.
    private static let reusedSizes = 15...1024

    private var base: UnsafeMutableRawPointer?
    /// The last copy. The next one of the same size lies in its memory, if nobody has that any more.
    private var copy = Data()
    private var copySize = 0
    private var size = initialSize
    /// How many reads in a row have filled the block.
    private var filled = 0

    /// The block, for libuv to read into.
    mutating func prepare() -> UnsafeMutableRawBufferPointer {
        guard let base = unsafe base else { return unsafe allocated() }
        return unsafe UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    /// The first `count` bytes of the block, there until the next read, or until `take` hands the block over.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }

    /// The first `count` bytes of the block: a copy, or, if they are half of it or more, the block itself.
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

    /// Bytes that somebody still has are copied by the `Data` before they are written over.
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

    /// Grows the block where reads keep filling it. What it holds is lost then.
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

    deinit {
        unsafe free(base)
    }
}
