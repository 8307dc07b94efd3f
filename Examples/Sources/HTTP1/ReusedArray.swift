/// An array that keeps its memory: to empty it, and to add what there is room for, takes a few instructions. It is for what is
/// filled anew with each message.
struct ReusedArray<Element: BitwiseCopyable & Sendable>: Sendable {
    /// The elements, and room for more behind them.
    private var memory: [Element] = []
    private(set) var count = 0

    var span: Span<Element> {
        @_lifetime(borrow self) get { memory.span.extracting(first: count) }
    }

    subscript(index: Int) -> Element {
        precondition(index < count)
        return memory[index]
    }

    mutating func removeAll() { count = 0 }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == memory.count { makeRoom(1, filledWith: element) }
        memory[count] = element
        count += 1
    }

    /// Makes room for `size` more elements at least.
    @inline(never)
    private mutating func makeRoom(_ size: Int, filledWith element: Element) {
        memory.append(contentsOf: repeatElement(element, count: max(size, count, 16)))
    }
}

extension ReusedArray<UInt8> {
    /// Adds a copy of `bytes`.
    @inline(__always)
    private mutating func append(copying bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        if memory.count - count < bytes.count { makeRoom(bytes.count, filledWith: 0) }
        let end = count
        unsafe memory.withUnsafeMutableBytes { memory in
            unsafe (memory.baseAddress! + end).copyMemory(from: start, byteCount: bytes.count)
        }
        count += bytes.count
    }

    /// Adds a copy of `bytes`.
    @inline(__always)
    mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(copying: $0) }
    }

    /// Adds the ASCII text `text`.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(copying: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds `text` as UTF-8.
    mutating func append(utf8 text: String) { unsafe append(copying: text.utf8Span.span.bytes) }

    /// Adds `number` in decimal digits.
    mutating func append(decimal number: Int) {
        if (10..<100).contains(number) {
            let (tens, ones) = UInt8(truncatingIfNeeded: number).quotientAndRemainder(dividingBy: 10)
            let digits: InlineArray<2, UInt8> = [tens + UInt8(ascii: "0"), ones + UInt8(ascii: "0")]
            return unsafe append(copying: digits.span.bytes)
        }
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
