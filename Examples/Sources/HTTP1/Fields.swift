/// The fields of a message, in order: names and values.
///
/// The fields of a message that was read are kept as the bytes that came. A name or value becomes a string only when you
/// ask for it.
public struct Fields: Sendable {
    /// The bytes of all names and values.
    var text = ReusedArray<UInt8>()
    var lines = ReusedArray<FieldLine>()

    public init() {}

    public var count: Int { lines.count }
    public var isEmpty: Bool { lines.isEmpty }

    /// Adds a field behind the others. Traps if the name or the value has a byte that would break the message: check
    /// what comes from outside.
    public mutating func append(_ name: String, _ value: String) {
        precondition(
            !name.isEmpty && name.utf8.allSatisfy { ByteSet.token.contains($0) },
            "\"\(name)\" is no name of a field. Use letters, digits and hyphens.")
        precondition(
            value.utf8.allSatisfy(ByteSet.value.contains),
            "The value of the field \(name) has a control character. Remove CR, LF and NUL before.")
        let start = text.count
        text.append(utf8: name)
        let middle = text.count
        text.append(utf8: value)
        lines.append(FieldLine(FieldPlace(name: start..<middle, value: middle..<text.count)))
    }

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
    public func contains(_ element: String, in name: StaticString) -> Bool {
        guard let value = self[name] else { return false }
        return value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            String(part)?.trimmed.lowercased() == element
        }
    }

    func string(_ range: Range<Int>) -> String { String(copying: text.span, range) }
}

/// Where a name and a value are, as offsets.
struct FieldPlace {
    let name: Range<Int>
    let value: Range<Int>
}

/// A ``FieldPlace`` as it is kept, in half of the memory.
struct FieldLine: Sendable {
    private let nameStart: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32

    init(_ place: FieldPlace) {
        nameStart = UInt32(truncatingIfNeeded: place.name.lowerBound)
        nameEnd = UInt32(truncatingIfNeeded: place.name.upperBound)
        valueStart = UInt32(truncatingIfNeeded: place.value.lowerBound)
        valueEnd = UInt32(truncatingIfNeeded: place.value.upperBound)
    }

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

extension StringProtocol {
    /// The text without spaces and tabs at both ends.
    public var trimmed: String {
        var bytes = Array(utf8.drop(while: isSpaceOrTab))
        while let last = bytes.last, isSpaceOrTab(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
