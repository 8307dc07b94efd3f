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
    // Values are the most of a head.
    @inline(__always)
    func firstIndexOutsideValue(from start: Int, to end: Int) -> Int {
        firstIndex(from: start, to: end, notIn: .value, markedBy: controlCharacters)
    }

    /// Returns the first index from `start` up to `end` at which there is a byte that is not in ``ByteSet/token``, or `end`.
    // Nearly all names are letters and hyphens.
    @inline(__always)
    func firstIndexOutsideToken(from start: Int, to end: Int) -> Int {
        firstIndex(from: start, to: end, notIn: .token, markedBy: othersThanLettersAndHyphens)
    }

    /// Looks at eight bytes at once. What `marked` marks, among it all that is not in `set`, is looked at alone.
    @inline(__always)
    private func firstIndex(
        from start: Int, to end: Int, notIn set: ByteSet, markedBy marks: (UInt64) -> UInt64
    ) -> Int {
        precondition(0 <= start && start <= end && end <= count)
        var index = start
        let found = unsafe withUnsafeBytes { bytes in
            while end &- index >= 8 {
                let marked = unsafe marks(
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
                index &+= marked == 0 ? 8 : marked.trailingZeroBitCount >> 3
                guard marked != 0 else { continue }
                guard unsafe set.contains(bytes[index]) else { return true }
                index &+= 1
            }
            return false
        }
        return found ? index : firstIndex(from: index, to: end, notIn: set)
    }

    /// Whether the bytes from `start` to `end` are the ASCII text `text`, which is in lower case. The case of the bytes
    /// does not matter.
    @inline(__always)
    func matches(_ start: Int, _ end: Int, _ text: StaticString) -> Bool {
        guard end - start == text.utf8CodeUnitCount else { return false }
        precondition(0 <= start && end <= count)
        return unsafe withUnsafeBufferPointer { bytes in
            let expected = unsafe text.utf8Start
            var index = start
            while index < end {
                guard unsafe bytes[index] | 0x20 == expected[index &- start] | 0x20 else { return false }
                index &+= 1
            }
            return true
        }
    }

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

private let ones: UInt64 = 0x0101_0101_0101_0101
private let highs = ones << 7

/// Returns a word whose lowest bit that is set is in the first byte of `word` that is below 32, or 127; zero if there is none.
@inline(__always)
private func controlCharacters(in word: UInt64) -> UInt64 {
    let isBelow = (word &- ones &* 32) & ~word
    let delete = word ^ (ones &* 127)
    let isDelete = (delete &- ones) & ~delete
    return (isBelow | isDelete) & highs
}

/// Returns a word with the highest bit of each byte of `word` that is neither an ASCII letter nor a hyphen.
@inline(__always)
private func othersThanLettersAndHyphens(in word: UInt64) -> UInt64 {
    let lower = (word | ones &* 0x20) & ~highs
    let isLetter = (lower &+ ones &* 31) & ~(lower &+ ones &* 5)
    let isNoHyphen = ((word ^ ones &* 45) & ~highs) &+ ones &* 127
    return (~isLetter & isNoHyphen | word) & highs
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
