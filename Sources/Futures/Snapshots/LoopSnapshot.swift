/// The work of a loop at one moment, as a tree: what waits, and for what. ``EventLoop/snapshot()`` makes it.
///
/// Its description is a text for people. To get JSON for programs, encode the value, for example with Foundation's
/// `JSONEncoder`.
public struct LoopSnapshot: Hashable, Sendable, Encodable {
    /// A thing that is alive on the loop, or something that it waits for.
    public struct Item: Hashable, Sendable, Encodable {
        /// A word for the thing, such as `body`, `promise`, `scope`, `timer`, `handle` or `then`.
        public internal(set) var kind: String
        /// The thing in one line, for people.
        public internal(set) var text: String
        /// The line of your source code that made the thing or, for a body, at which the body waits: file and line. `nil`
        /// if it is not known.
        public internal(set) var place: String?
        /// The time for which the thing has waited, in seconds. `nil` if it is not known.
        public internal(set) var seconds: Double?
        /// The number of things that are described by this item.
        public internal(set) var count = 1
        /// The things that this one consists of or waits for. For a promise: the steps that wait for it.
        public internal(set) var items: [Item] = []
    }

    /// The numbers of ``EventLoop/statistics``, as a line of text.
    public internal(set) var figures: String
    public internal(set) var items: [Item]

    /// Returns the snapshot as text: the line of ``figures``, and then the items, each in a line of its own. Items that
    /// belong to another one are indented. Lines beyond `limit` are left out, and the last line says how many.
    public func text(limit: Int = 500) -> String {
        var lines = [figures]
        for item in items { item.add(to: &lines, depth: 0) }
        if lines.count > max(limit, 1) {
            let omitted = lines.count - max(limit, 1)
            lines = lines.prefix(max(limit, 1)) + ["… and \(omitted) more lines"]
        }
        return lines.joined(separator: "\n")
    }
}

extension LoopSnapshot: CustomStringConvertible {
    /// The text of at most 500 lines.
    public var description: String { text() }
}

extension LoopSnapshot.Item {
    init(_ kind: String, _ text: String, place: String? = nil, seconds: Double? = nil, items: [Self] = []) {
        (self.kind, self.text, self.place, self.seconds) = (kind, text, place, seconds)
        self.items = items.merged
    }

    fileprivate func add(to lines: inout [String], depth: Int) {
        var line = String(repeating: "  ", count: depth) + text
        if let place { line += " at \(place)" }
        if let seconds { line += ", for \(Self.rounded(seconds)) s" }
        if count > 1 { line += " (\(count) of them)" }
        lines.append(line)
        for item in items { item.add(to: &lines, depth: depth + 1) }
    }

    /// Rounds to tenths of a second.
    private static func rounded(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }
}

extension [LoopSnapshot.Item] {
    /// The same items, with those that say the same as one item. What takes different times says the same, too: the
    /// longest time is kept.
    var merged: Self {
        // A long chain would be hashed once for each of its parts.
        guard count > 1 else { return self }
        var merged: Self = []
        var places: [LoopSnapshot.Item: Int] = [:]
        for var item in self {
            let seconds = item.seconds
            item.seconds = nil
            if let index = places[item] {
                merged[index].count += item.count
                merged[index].seconds = [merged[index].seconds, seconds].compactMap(\.self).max()
            } else {
                places[item] = merged.count
                item.seconds = seconds
                merged.append(item)
            }
        }
        return merged
    }
}
