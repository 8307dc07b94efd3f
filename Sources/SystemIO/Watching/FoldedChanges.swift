/// The difference between what a reader of changes knows and the present state.
///
/// Each changed file has a place where the reader knows it, and a place where it is now. However often it was renamed,
/// replaced and recreated meanwhile, the reported changes lead from the former to the latter. A file that was created
/// and removed has not changed. A file that was written under another name and then renamed over the old one was
/// modified: this is how programs save files.
final class FoldedChanges {
    enum Kind: Equatable {
        case created, modified, attributes, removed
        case moved(from: RelativePath)
    }

    struct Change {
        let kind: Kind
        let path: RelativePath
        /// Whether the removed or renamed entry is a directory.
        var isDirectory = false
        /// Whether the rename replaced a file or an empty directory.
        var replaces = false
        /// The change of the renamed entry itself, if any.
        var alteration: Kind?
    }

    /// The maximum number of files that wait for each other's renames. With more, no order is sought.
    private static let patience = 500
    /// The maximum number of changes that are kept as they arrived.
    private static let memory = 10_000

    private let root = Node()
    /// The changed files and directories, by the number of their first change.
    private var changed: [Int: Node] = [:]
    private var lastNumber = 0
    /// The number of changes that were added.
    private(set) var added = 0

    /// The changes as they arrived. Empty if there are too many.
    private var all: [Change] = []
    private var told: [Change] = []
    private var waiting = 0
    /// Whether the changes have no order in which each builds on those before.
    private(set) var hasNoOrder = false

    init() {
        (root.known, root.present) = (Place(parent: root, name: .here), Place(parent: root, name: .here))
        root.progress = .placed
    }

    /// Breaks reference cycles: after renames, an entry may contain a directory that contained it before.
    deinit { for node in changed.values { (node.knownEntries, node.presentEntries) = ([:], [:]) } }

    var count: Int { changed.count }

    // MARK: Adding changes

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
            // If two files take a name one right after the other, and nothing else happens to the second, the system
            // reports only one of them. So a file that returns may be a different one.
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
        let name = names.removeLast()
        return Place(parent: names.reduce(root) { entry(Place(parent: $0, name: $1)) }, name: name)
    }

    /// Returns the entry at `place`. An entry that has not changed until now is where the reader knows it.
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

    /// Forgets the entries that are removed with the directory.
    private func forgetGone(below node: Node) {
        for (name, child) in node.knownEntries where child.present == nil {
            forgetGone(below: child)
            guard child.knownEntries.isEmpty else { continue }
            forget(child)
            node.knownEntries[name] = nil
        }
    }

    // MARK: Reporting

    /// Returns the changes in an order in which each builds on those before. If no such order exists, for example for
    /// directories that swapped places, returns the changes as they arrived, or `nil` if there were too many. Nothing
    /// can be added afterwards.
    func tell() -> [Change]? {
        for (_, node) in changed.sorted(by: { $0.key < $1.key }) { settle(node) }
        guard hasNoOrder else { return told }
        return all.isEmpty ? nil : all
    }

    private func settle(_ node: Node) {
        guard node.present == nil else { return place(node) }
        // An entry that is removed with its directory, or whose place another entry takes, is reported with that.
        guard let known = node.known, known.parent.present != nil,
            known.parent.presentEntries[known.name] == nil
        else { return }
        clear(node)
        tellRemoved(node)
    }

    /// Reports where `node` is, after the changes that must be reported first.
    private func place(_ node: Node) {
        guard let place = node.present, node.progress != .placed else { return }
        if waiting == Self.patience { hasNoOrder = true }
        // An entry that waits for itself cannot be renamed. A file is reported as recreated, but the contents of a
        // directory are not known.
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

    /// Reports the present place of `node`, or, if it is gone, of the entries left below it.
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

    /// The place where the reader knows it. `nil` if it is new.
    var known: Place?
    /// The present place. `nil` if it is gone.
    var present: Place?
    var knownEntries: [RelativePath: Node] = [:]
    var presentEntries: [RelativePath: Node] = [:]
    var isDirectory = false
    var alteration: FoldedChanges.Kind?
    var number: Int?
    var progress = Progress.new

    /// Whether this entry, or a directory above it, waits for others to be reported.
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
