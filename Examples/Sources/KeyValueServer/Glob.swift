/// A pattern of keys or channels: `*`, `?`, `[a-z]`, `[^a]`, and a backslash before what stands for itself.
struct Glob {
    /// The bytes that a part fits, one bit for each.
    private typealias ByteSet = SIMD4<UInt64>

    /// The parts of the pattern: a byte, `anything`, `anyByte`, or the number of a set above these.
    private var parts: [Int32] = []
    private var sets: [ByteSet] = []
    private static let anything: Int32 = 256
    private static let anyByte: Int32 = 257

    init(_ pattern: [UInt8]) {
        parts.reserveCapacity(pattern.count)
        var place = 0
        while place < pattern.count {
            let byte = pattern[place]
            place += 1
            switch byte {
            case UInt8(ascii: "*"): if parts.last != Self.anything { parts.append(Self.anything) }
            case UInt8(ascii: "?"): parts.append(Self.anyByte)
            case UInt8(ascii: "["):
                sets.append(Self.readSet(pattern, &place))
                parts.append(Self.anyByte + Int32(sets.count))
            case UInt8(ascii: "\\") where place < pattern.count:
                parts.append(Int32(pattern[place]))
                place += 1
            default: parts.append(Int32(byte))
            }
        }
    }

    /// Reads a set up to its end, or that of the pattern.
    private static func readSet(_ pattern: [UInt8], _ place: inout Int) -> ByteSet {
        var set = ByteSet.zero
        func add(_ byte: UInt8) { set[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
        let isInverted = place < pattern.count && pattern[place] == UInt8(ascii: "^")
        if isInverted { place += 1 }
        while place < pattern.count, pattern[place] != UInt8(ascii: "]") {
            if pattern[place] == UInt8(ascii: "\\"), place + 1 < pattern.count {
                add(pattern[place + 1])
                place += 2
            } else if place + 2 < pattern.count, pattern[place + 1] == UInt8(ascii: "-") {
                let (a, b) = (pattern[place], pattern[place + 2])
                for byte in min(a, b)...max(a, b) { add(byte) }
                place += 3
            } else {
                add(pattern[place])
                place += 1
            }
        }
        place = min(place + 1, pattern.count)
        return isInverted ? ~set : set
    }

    /// The steps that a command may take besides 64 for each byte: so many take some milliseconds.
    static let mostSteps = 10_000_000

    /// Whether all of `text` fits. After a `*` it goes back to the last one only, so the steps are at most those of comparing
    /// everything with everything. `steps` are those that may still be taken.
    func matches(_ text: [UInt8], _ steps: inout Int) throws -> Bool {
        steps += 64 * text.count
        var (place, index) = (0, 0)
        var star: (place: Int, index: Int)?
        while index < text.count {
            if place < parts.count, parts[place] == Self.anything {
                star = (place, index)
                place += 1
            } else if place < parts.count, fits(text[index], parts[place]) {
                (place, index) = (place + 1, index + 1)
            } else if let last = star {
                steps -= index - last.index
                guard steps >= 0 else {
                    throw CommandError(
                        "ERR comparing with the pattern takes more than \(Self.mostSteps) steps; use a shorter one"
                    )
                }
                star = (last.place, last.index + 1)
                (place, index) = (last.place + 1, last.index + 1)
            } else {
                return false
            }
        }
        return parts[place...].allSatisfy { $0 == Self.anything }
    }

    private func fits(_ byte: UInt8, _ part: Int32) -> Bool {
        if part <= Self.anyByte { return part == Self.anyByte || part == Int32(byte) }
        return sets[Int(part - Self.anyByte) - 1][Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1
    }
}
