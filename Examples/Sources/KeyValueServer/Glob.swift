/// A pattern of keys or channels: `*`, `?`, `[a-z]`, `[^a]`, and a backslash before what stands for itself.
struct Glob {
    private let pattern: [UInt8]

    init(_ pattern: [UInt8]) { self.pattern = pattern }

    /// Whether all of `text` fits. After a `*` it goes back to the last one only, so the time is at most that of comparing
    /// everything with everything.
    func matches(_ text: [UInt8]) -> Bool {
        var (place, index) = (0, 0)
        var star: (place: Int, index: Int)?
        while index < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, index)
                place += 1
            } else if place < pattern.count, let next = matchOne(text[index], at: place) {
                (place, index) = (next, index + 1)
            } else if let last = star {
                star = (last.place, last.index + 1)
                (place, index) = (last.place + 1, last.index + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Returns the place behind the part of the pattern that fits `byte`, or `nil` if it does not.
    private func matchOne(_ byte: UInt8, at place: Int) -> Int? {
        switch pattern[place] {
        case UInt8(ascii: "?"): return place + 1
        case UInt8(ascii: "["): return matchSet(byte, at: place + 1)
        case UInt8(ascii: "\\") where place + 1 < pattern.count:
            return pattern[place + 1] == byte ? place + 2 : nil
        default: return pattern[place] == byte ? place + 1 : nil
        }
    }

    private func matchSet(_ byte: UInt8, at start: Int) -> Int? {
        var place = start
        let isInverted = place < pattern.count && pattern[place] == UInt8(ascii: "^")
        if isInverted { place += 1 }
        var isFound = false
        while place < pattern.count, pattern[place] != UInt8(ascii: "]") {
            if pattern[place] == UInt8(ascii: "\\"), place + 1 < pattern.count { place += 1 }
            if place + 2 < pattern.count, pattern[place + 1] == UInt8(ascii: "-") {
                let bounds = [pattern[place], pattern[place + 2]].sorted()
                isFound = isFound || (bounds[0]...bounds[1]).contains(byte)
                place += 3
            } else {
                isFound = isFound || pattern[place] == byte
                place += 1
            }
        }
        return isFound != isInverted ? min(place + 1, pattern.count) : nil
    }
}
