/// What the field `Range` of a request asks for.
public enum ByteRange: Hashable, Sendable {
    /// Everything: the field is missing, is not of bytes, or asks for several ranges, of which a server may send all.
    case everything
    case part(Range<Int>)
    /// Nothing that is there. To be answered with status 416.
    case unsatisfiable

    /// Reads the value `field` of a request for a resource of `size` bytes.
    public init(_ field: String?, of size: Int) {
        self = .everything
        guard let field, field.utf8.count <= 64, field.lowercased().hasPrefix("bytes=") else { return }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { decimalValue($0) != nil } }) else {
            return
        }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: return
        }
    }
}
