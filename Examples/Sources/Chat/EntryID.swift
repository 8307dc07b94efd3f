/// The place of an entry in the log: a time in milliseconds, and a number among the entries of that time. Redis writes it like
/// that.
public struct EntryID: Hashable, Comparable, Sendable {
    public let milliseconds: UInt64
    public let number: UInt64

    public init(_ milliseconds: UInt64, _ number: UInt64) {
        (self.milliseconds, self.number) = (milliseconds, number)
    }

    /// The place before all entries.
    public static let start = EntryID(0, 0)

    public static func < (a: EntryID, b: EntryID) -> Bool {
        (a.milliseconds, a.number) < (b.milliseconds, b.number)
    }
}

extension EntryID: LosslessStringConvertible {
    public var description: String { "\(milliseconds)-\(number)" }

    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = UInt64(parts[0]), let number = UInt64(parts[1]) else {
            return nil
        }
        self.init(milliseconds, number)
    }
}
