/// The fields of a message that was read, in order: names and values.
///
/// They are kept as the bytes that came. A name or value becomes a string only when you ask for it.
public struct Fields: Sendable {
    /// The bytes of all names and values.
    var text = ReusedArray<UInt8>()
    var lines = ReusedArray<FieldLine>()

    public init() {}

    public var count: Int { lines.count }

    /// The value of the field called `name`, which is in lower case: `nil` if there is none. If there are several, their
    /// values with commas between them. Bytes that are no UTF-8 are replaced.
    public subscript(name: StaticString) -> String? {
        var found: String?
        for index in 0..<count {
            let line = lines[index]
            guard text.span.matches(line.name.lowerBound, line.name.upperBound, name) else { continue }
            let value = string(line.value)
            found = found.map { $0 + ", " + value } ?? value
        }
        return found
    }

    /// The field at `index`.
    public subscript(index: Int) -> (name: String, value: String) {
        (string(lines[index].name), string(lines[index].value))
    }

    /// Whether one of the values of the fields called `name` has the element `element`, between commas. Both are in lower
    /// case, and the case of what came does not matter.
    public func contains(_ element: StaticString, in name: StaticString) -> Bool {
        var isFound = false
        for index in 0..<count {
            let line = lines[index]
            guard text.span.matches(line.name.lowerBound, line.name.upperBound, name) else { continue }
            text.span.forEachElement(line.value) { start, end in
                if text.span.matches(start, end, element) { isFound = true }
            }
        }
        return isFound
    }

    func string(_ range: Range<Int>) -> String { String(copying: text.span, range) }
}

/// Where a name and a value are, as offsets.
typealias FieldPlace = (name: Range<Int>, value: Range<Int>)

/// A ``FieldPlace`` as it is kept, in half of the memory.
struct FieldLine: Sendable {
    private let nameStart: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32

    @inline(__always)
    init(name: Range<Int>, value: Range<Int>) {
        nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
        nameEnd = UInt32(truncatingIfNeeded: name.upperBound)
        valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
        valueEnd = UInt32(truncatingIfNeeded: value.upperBound)
    }

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}
