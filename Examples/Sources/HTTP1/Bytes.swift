internal import Glibc

// Operations that the language calls unsafe and that are safe here: bytes are looked at where they are, and copied.

extension RawSpan {
    /// The same bytes as a span of `UInt8`, which has a checked subscript.
    public var octets: Span<UInt8> {
        @_lifetime(copy self) get { unsafe _unsafeView(as: UInt8.self) }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first `byte` from `start` up to `end`, or `nil` if there is none.
    @inline(__always)
    func position(of byte: UInt8, from start: Int, to end: Int) -> Int? {
        precondition(0 <= start && end <= count)
        guard start < end else { return nil }
        return unsafe withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard let found = unsafe memchr(base + start, CInt(byte), end - start) else { return nil }
            return unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
        }
    }

    /// Returns the first index from `start` up to `end` at which there is a byte that is not in `set`, or `end`.
    @inline(__always)
    func firstIndex(from start: Int, to end: Int, notIn set: ByteSet) -> Int {
        precondition(0 <= start && start <= end && end <= count)
        return unsafe withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return end }
            var index = start
            while index < end, unsafe set.contains(base[index]) { index &+= 1 }
            return index
        }
    }

    /// Returns the first index from `start` up to `end` at which there is a byte that is not in ``ByteSet/value``, or `end`.
    /// Values are the most of a head: eight bytes are looked at at once.
    @inline(__always)
    func firstIndexOutsideValue(from start: Int, to end: Int) -> Int {
        precondition(0 <= start && start <= end && end <= count)
        var index = start
        let found = unsafe withUnsafeBytes { bytes in
            while end - index >= 8 {
                let marks = unsafe controlCharacters(
                    in: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
                index += marks == 0 ? 8 : marks.trailingZeroBitCount >> 3
                guard marks != 0 else { continue }
                guard unsafe bytes[index] == UInt8(ascii: "\t") else { return true }
                index += 1
            }
            return false
        }
        return found ? index : firstIndex(from: index, to: end, notIn: .value)
    }

    /// Whether the bytes from `start` to `end` are the ASCII text `text`, which is in lower case. The case of the bytes
    /// does not matter.
    func matches(_ start: Int, _ end: Int, _ text: StaticString) -> Bool {
        guard end - start == text.utf8CodeUnitCount else { return false }
        let expected = unsafe text.utf8Start
        for index in start..<end {
            guard unsafe self[index] | 0x20 == expected[index - start] | 0x20 else { return false }
        }
        return true
    }

    /// Whether the first `end` bytes are `text`.
    @inline(__always)
    func equals(_ end: Int, _ text: StaticString) -> Bool { equals(0, end, text) }

    /// Whether the bytes from `start` to `end` are `text`.
    @inline(__always)
    func equals(_ start: Int, _ end: Int, _ text: StaticString) -> Bool {
        guard end - start == text.utf8CodeUnitCount else { return false }
        precondition(0 <= start && end <= count)
        return unsafe withUnsafeBufferPointer { bytes in
            unsafe memcmp(bytes.baseAddress! + start, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }
}

/// Returns a word whose lowest bit that is set is in the first byte of `word` that is below 32, or 127; zero if there is none.
@inline(__always)
private func controlCharacters(in word: UInt64) -> UInt64 {
    let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
    let isBelow = (word &- ones &* 32) & ~word
    let delete = word ^ (ones &* 127)
    let isDelete = (delete &- ones) & ~delete
    return (isBelow | isDelete) & highs
}

extension String {
    /// The text of `range` of `bytes`.
    init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        self = unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }
}

extension [UInt8] {
    /// Appends a copy of `bytes`.
    @inline(__always)
    public mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
