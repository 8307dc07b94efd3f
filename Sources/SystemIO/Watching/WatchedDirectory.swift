/// A directory of a watched tree, with the names in it.
final class WatchedDirectory {
    private(set) weak var parent: WatchedDirectory?
    private(set) var name: RelativePath
    /// The system watch. `nil` before the directory has been scanned, and when it is gone.
    var watch: CInt?
    /// Whether a rename was reported, but the renamed directory may not be the one with this watch.
    var wasMoved = false
    /// How many directories had been renamed when another directory last got this one's watch.
    var mistake: Int?
    /// The entries, each with its directory if that is watched.
    var entries: [RelativePath: WatchedDirectory?] = [:]

    init(_ name: RelativePath, in parent: WatchedDirectory?) { (self.name, self.parent) = (name, parent) }

    /// The names that lead from the root to this directory.
    var names: [RelativePath] {
        var names: [RelativePath] = []
        var directory = self
        while let parent = directory.parent {
            names.append(directory.name)
            directory = parent
        }
        return names.reversed()
    }

    /// The path of the entry `name`, relative to the root.
    func path(of name: RelativePath) -> RelativePath { (names + [name]).joined }

    func move(to parent: WatchedDirectory, as name: RelativePath) {
        (self.parent, self.name) = (parent, name)
    }

    /// Whether this directory is `root`, or an entry below it.
    func isBelow(_ root: WatchedDirectory) -> Bool {
        if self === root { return true }
        guard let parent, case let known?? = parent.entries[name], known === self else { return false }
        return parent.isBelow(root)
    }

    /// This directory and all below it.
    var all: [WatchedDirectory] {
        var all = [self]
        var index = 0
        while index < all.count {
            all += all[index].entries.values.compactMap { $0 }
            index += 1
        }
        return all
    }
}
