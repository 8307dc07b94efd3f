internal import Glibc

// Operations that the language calls unsafe and that are safe here: bytes are looked at where they are, and copied.

extension RawSpan {
    /// The same bytes as a span of `UInt8`, which has a checked subscript.
    public var octets: Span<UInt8> {
        @_lifetime(copy self) get { unsafe _unsafeView(as: UInt8.self) }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first `byte` at or after `start`, or `nil` if there is none.
    func position(of byte: UInt8, from start: Int) -> Int? {
        guard start < count else { return nil }
        return unsafe withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard let found = unsafe memchr(base + start, CInt(byte), bytes.count - start) else { return nil }
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
    func equals(_ end: Int, _ text: StaticString) -> Bool { equals(0, end, text) }

    /// Whether the bytes from `start` to `end` are `text`.
    func equals(_ start: Int, _ end: Int, _ text: StaticString) -> Bool {
        guard end - start == text.utf8CodeUnitCount else { return false }
        let expected = unsafe text.utf8Start
        for index in start..<end {
            guard unsafe self[index] == expected[index - start] else { return false }
        }
        return true
    }
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

    /// Appends the ASCII text `text`.
    @inline(__always)
    public mutating func append(_ text: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends `number` in decimal digits.
    public mutating func append(decimal number: Int) {
        var digits: InlineArray<20, UInt8> = .init(repeating: 0)
        var start = 20
        var rest = number.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
            rest /= 10
        } while rest > 0
        if number < 0 { append(UInt8(ascii: "-")) }
        unsafe append(copying: digits.span.extracting(start..<20).bytes)
    }
}
