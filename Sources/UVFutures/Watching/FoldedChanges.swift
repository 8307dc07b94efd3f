internal import Futures

/// The difference between what a reader of changes knows and what there is by now.
///
/// Each file that has changed has a place where the reader knows it, and one where it is. However often it was renamed,
/// replaced and made again meanwhile, what is told leads from the former to the latter. A file that was made and
/// removed has not changed. One that was written under another name and then renamed over the old one has been
/// modified. This is how programs save a file.
final class FoldedChanges {
    enum Kind: Equatable {
        case created, modified, attributes, removed
        case moved(from: RelativePath)
    }

    struct Change {
        let kind: Kind
        let path: RelativePath
        /// Whether it is a directory that was removed or renamed.
        var isDirectory = false
        /// Whether there was a file or an empty directory where something was renamed to.
        var replaces = false
        /// How what was renamed has changed, too.
        var alteration: Kind?
    }

    /// The number of files that may wait for each other's renames. With more, no order is looked for.
    private static let patience = 500
    /// The number of changes that are kept as they came.
    private static let memory = 10_000

    private let root = Node()
    /// What has changed, by the number of its first change.
    private var changed: [Int: Node] = [:]
    private var lastNumber = 0
    /// The number of changes that were added.
    private(set) var added = 0

    /// The changes as they came. Empty if they are too many.
    private var all: [Change] = []
    private var told: [Change] = []
    private var waiting = 0
    /// Whether no order of the changes leads on from one to the next.
    private(set) var hasNoOrder = false

    init() {
        (root.known, root.present) = (Place(parent: root, name: .here), Place(parent: root, name: .here))
        root.progress = .placed
    }

    /// What was renamed may hold what has held it.
    deinit { for node in changed.values { (node.knownEntries, node.presentEntries) = ([:], [:]) } }

    var count: Int { changed.count }

    // MARK: What happens

    func add(_ change: Change) {
        added += 1
        if added <= Self.memory { all.append(change) } else { all = [] }
        let place = place(at: change.path)
        switch change.kind {
        case .created: note(entry(place, isNew: true))
        case .modified, .attributes:
            let node = entry(place)
            node.alter(change.kind)
            note(node)
        case .removed: remove(entry(place), isDirectory: change.isDirectory)
        case .moved(let source):
            let node = entry(self.place(at: source))
            node.isDirectory = change.isDirectory
            if let alteration = change.alteration { node.alter(alteration) }
            // The system tells two files that take a name one right after the other as one, if that is all it sees of the
            // second. So one that comes back may be another.
            if !node.isDirectory { node.alter(.modified) }
            note(node)
            if change.replaces || place.parent.presentEntries[place.name] != nil {
                remove(entry(place), isDirectory: change.isDirectory)
            }
            node.setPresent(place)
        }
    }

    private func place(at path: RelativePath) -> Place {
        var names = path.components
        let name = names.popLast() ?? path
        return Place(parent: names.reduce(root) { entry(Place(parent: $0, name: $1)) }, name: name)
    }

    /// Returns what is at `place`. What has not changed until now is where the reader knows it.
    private func entry(_ place: Place, isNew: Bool = false) -> Node {
        if let node = place.parent.presentEntries[place.name] { return node }
        let node = Node()
        if !isNew, place.parent.known != nil, place.parent.knownEntries[place.name] == nil {
            node.setKnown(place)
        }
        node.setPresent(place)
        return node
    }

    private func note(_ node: Node) {
        guard node.number == nil else { return }
        lastNumber += 1
        node.number = lastNumber
        changed[lastNumber] = node
    }

    private func forget(_ node: Node) { if let number = node.number.take() { changed[number] = nil } }

    private func remove(_ node: Node, isDirectory: Bool) {
        vanish(node)
        guard node.known != nil else { return }
        node.isDirectory = isDirectory || !node.knownEntries.isEmpty
        forgetGone(below: node)
        note(node)
    }

    private func vanish(_ node: Node) {
        for child in node.presentEntries.values { vanish(child) }
        node.setPresent(nil)
        if node.known == nil { forget(node) }
    }

    /// Forgets what goes with the directory.
    private func forgetGone(below node: Node) {
        for (name, child) in node.knownEntries where child.present == nil {
            forgetGone(below: child)
            guard child.knownEntries.isEmpty else { continue }
            forget(child)
            node.knownEntries[name] = nil
        }
    }

    // MARK: What is told

    /// Returns the changes in an order in which each leads on from those before. If none does, as for directories that
    /// have changed places, returns them as they came, or `nil` if these were too many. Nothing can be added
    /// afterwards.
    func tell() -> [Change]? {
        for (_, node) in changed.sorted(by: { $0.key < $1.key }) { settle(node) }
        guard hasNoOrder else { return told }
        return all.isEmpty ? nil : all
    }

    private func settle(_ node: Node) {
        guard node.present == nil else { return place(node) }
        // What goes with its directory, or gives its place to something else, is told with that.
        guard let known = node.known, known.parent.present != nil,
            known.parent.presentEntries[known.name] == nil
        else { return }
        clear(node)
        tellRemoved(node)
    }

    /// Tells where `node` is, after what has to be told before.
    private func place(_ node: Node) {
        guard let place = node.present, node.progress != .placed else { return }
        if waiting == Self.patience { hasNoOrder = true }
        // What waits for itself cannot be renamed. A file is made again, but what is in a directory is not known.
        if hasNoOrder || node.isWaiting {
            if node.isDirectory { hasNoOrder = true }
            if node.known != nil { tellRemoved(node) }
            return
        }
        node.progress = .waits
        waiting += 1
        self.place(place.parent)
        if node.known != place {
            if let there = place.parent.knownEntries[place.name] { clear(there) }
            put(node, at: place)
        } else if let alteration = node.alteration {
            told.append(Change(kind: alteration, path: path(of: place)))
        }
        waiting -= 1
        node.progress = .placed
    }

    /// Lets `node`, or what is left below it if it has gone, go where it is now.
    private func clear(_ node: Node) {
        if node.present != nil { return place(node) }
        let names = node.knownEntries.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        for name in names { if let child = node.knownEntries[name] { clear(child) } }
    }

    private func put(_ node: Node, at place: Place) {
        let path = path(of: place)
        let gone = place.parent.knownEntries[place.name]
        if let gone { if gone.isDirectory { tellRemoved(gone) } else { gone.setKnown(nil) } }
        let replaces = gone?.isDirectory == false
        if let known = node.known {
            told.append(
                Change(
                    kind: .moved(from: self.path(of: known)), path: path, isDirectory: node.isDirectory,
                    replaces: replaces, alteration: node.alteration))
        } else {
            told.append(Change(kind: replaces ? .modified : .created, path: path))
        }
        node.setKnown(place)
    }

    private func tellRemoved(_ node: Node) {
        told.append(Change(kind: .removed, path: path(of: node.known!), isDirectory: node.isDirectory))
        node.setKnown(nil)
    }

    /// The path by which the reader knows the place.
    private func path(of place: Place) -> RelativePath {
        var names = [place.name]
        var directory = place.parent
        while directory !== root, let known = directory.known {
            names.append(known.name)
            directory = known.parent
        }
        return names.reversed().joined
    }
}

private struct Place: Equatable {
    unowned let parent: Node
    let name: RelativePath

    static func == (a: Place, b: Place) -> Bool { a.parent === b.parent && a.name == b.name }
}

/// A file or a directory.
private final class Node {
    enum Progress { case new, waits, placed }

    /// Where the reader knows it. `nil` if it is new.
    var known: Place?
    /// Where it is. `nil` if it has gone.
    var present: Place?
    var knownEntries: [RelativePath: Node] = [:]
    var presentEntries: [RelativePath: Node] = [:]
    var isDirectory = false
    var alteration: FoldedChanges.Kind?
    var number: Int?
    var progress = Progress.new

    /// Whether this, or a directory above, waits for others to be told.
    var isWaiting: Bool {
        switch progress {
        case .new: present?.parent.isWaiting == true
        case .waits: true
        case .placed: false
        }
    }

    func alter(_ kind: FoldedChanges.Kind) { if alteration != .modified { alteration = kind } }

    func setKnown(_ place: Place?) {
        if let known { known.parent.knownEntries[known.name] = nil }
        known = place
        if let place { place.parent.knownEntries[place.name] = self }
    }

    func setPresent(_ place: Place?) {
        if let present { present.parent.presentEntries[present.name] = nil }
        present = place
        if let place { place.parent.presentEntries[place.name] = self }
    }
}
