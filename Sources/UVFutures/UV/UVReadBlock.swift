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
    private var size = initialSize
    /// How many reads in a row have filled the block.
    private var filled = 0

    /// The block, for libuv to read into.
    mutating func prepare() -> UnsafeMutableRawBufferPointer {
        if unsafe base == nil { unsafe base = malloc(size) }
        return unsafe UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    /// The first `count` bytes of the block, there until the next read.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }

    /// The first `count` bytes of the block: a copy, or, if they are half of it or more, the block itself.
    mutating func take(_ count: Int) -> Data {
        let data: Data
        if count < size / 2 {
            data = copied(count)
        } else {
            data = unsafe Data(bytesNoCopy: base!, count: count, deallocator: .free)
            unsafe base = nil
        }
        noteRead(count)
        return data
    }

    /// Bytes that somebody still has are copied by the `Data` before they are written over.
    private mutating func copied(_ count: Int) -> Data {
        if count == copy.count {
            let bytes = unsafe bytes(count)
            unsafe copy.withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
            return copy
        }
        let data = unsafe Data(bytes: base!, count: count)
        if Self.reusedSizes.contains(count) { copy = data }
        return data
    }

    /// Grows the block where reads keep filling it. What it holds is lost then.
    mutating func noteRead(_ count: Int) {
        filled = count == size ? filled + 1 : 0
        if filled == 2, size < Self.maximumSize { grow() }
    }

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
