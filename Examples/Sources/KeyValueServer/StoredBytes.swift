import RESP

/// Bytes that lie in the structure itself while they are few, and in memory of their own when they are many.
///
/// Most keys and values are short. That they need no memory of their own saves the time to ask for it, and one wait for the
/// memory at each look at them.
struct StoredBytes {
    private static let isMany = UInt8.max

    private var many: [UInt8] = []
    /// With so many an entry of the table is as large as a line of the processor's cache.
    private var few = InlineArray<32, UInt8>(repeating: 0)
    /// The number of `few`, or `isMany`.
    private var fewCount: UInt8 = 0

    @inline(__always)
    var count: Int { fewCount == Self.isMany ? many.count : Int(fewCount) }

    /// The bytes of memory that it takes besides itself.
    var ownMemory: Int { many.capacity }

    @inline(__always)
    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        fewCount == Self.isMany
            ? body(many.span.bytes) : body(few.span.bytes.extracting(first: Int(fewCount)))
    }

    @inline(__always)
    mutating func withMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        if fewCount == Self.isMany { return many.withUnsafeMutableBytes(body) }
        let count = Int(fewCount)
        return withUnsafeMutableBytes(of: &few) {
            body(UnsafeMutableRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    /// Replaces all bytes from `start` on.
    mutating func replace(from start: Int, with bytes: RawSpan) {
        let size = start + bytes.byteCount
        if size <= few.count {
            if fewCount == Self.isMany { becomeFew(start) }
            withUnsafeMutableBytes(of: &few) { memory in
                bytes.withUnsafeBytes { bytes in
                    memory[start...].copyBytes(from: bytes)
                }
            }
            fewCount = UInt8(size)
        } else if fewCount == Self.isMany {
            many.removeLast(many.count - start)
            many.appendBytes(bytes)
            // What was long keeps no memory when it is short. A copy of the whole array would be the array itself.
            if many.capacity > 2 * size + 256 { many = [] + many }
        } else {
            many.reserveCapacity(size)
            withBytes { many.appendBytes($0.extracting(first: start)) }
            many.appendBytes(bytes)
            fewCount = Self.isMany
        }
    }

    /// Takes the first `count` bytes out of the memory that was for many.
    private mutating func becomeFew(_ count: Int) {
        for index in 0..<count { few[index] = many[index] }
        many = []
    }
}
