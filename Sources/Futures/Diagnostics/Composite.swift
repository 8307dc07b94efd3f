/// An object that consists of parts, which a snapshot shows.
protocol Composite: AnyObject {
    /// What it is, and in which state, in one line.
    var title: String { get }
    /// The future with which it ends.
    var end: Cell { get }
    var parts: [CompositePart] { get }
}

enum CompositePart {
    case future(Cell)
    /// An object, by its description.
    case object(String)
    case composite(any Composite)
}

/// The objects of a loop that consist of parts. The list does not hold them.
struct CompositeList {
    private struct Entry {
        weak let object: (any Composite)?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    mutating func add(_ object: any Composite) { entries[ObjectIdentifier(object)] = Entry(object: object) }

    mutating func remove(_ object: any Composite) { entries[ObjectIdentifier(object)] = nil }

    var all: [any Composite] { entries.values.compactMap(\.object) }
}
