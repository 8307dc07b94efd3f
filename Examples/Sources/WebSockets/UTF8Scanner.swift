/// Looks at a text byte by byte, and finds the first byte with which it cannot be UTF-8 any more.
struct UTF8Scanner: Hashable, Sendable {
    /// The bytes that the character under way still needs.
    private var missing: UInt8 = 0
    /// What the next byte may be, if it belongs to the character under way.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text may end here.
    var isComplete: Bool { missing == 0 }

    /// Returns whether the text may go on with `byte`.
    mutating func accepts(_ byte: UInt8) -> Bool {
        guard isComplete else {
            defer { next = 0x80...0xBF }
            missing -= 1
            return next.contains(byte)
        }
        switch byte {
        case ..<0x80: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        // What has a shorter form, the halves of UTF-16's pairs, and what is behind the last character.
        case 0xE0: next = 0xA0...0xBF
        case 0xED: next = 0x80...0x9F
        case 0xF0: next = 0x90...0xBF
        case 0xF4: next = 0x80...0x8F
        default: break
        }
        return true
    }
}
