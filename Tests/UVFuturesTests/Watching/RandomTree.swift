import TestSupport

@testable import SystemIO
@testable import UVFutures

/// Files and directories to which things happen at random, and what a reader knows of them.
struct RandomTree {
    typealias Change = FoldedChanges.Change

    struct Entry: Equatable {
        var isDirectory: Bool
        /// What no other file has.
        var contents: Int
    }

    private(set) var entries: [String: Entry] = [:]
    private var lastContents = 0

    // MARK: What happens

    /// Lets something happen. Returns what is told of it.
    mutating func change(_ random: inout SeededGenerator) -> [Change] {
        while true {
            let path = entries.keys.sorted().randomElement(using: &random)
            let directories = entries.filter { $0.value.isDirectory && $0.key.utf8.count < 5 }.keys.sorted()
            let directory = directories.map { $0 + "/" }.randomElement(using: &random)
            let name = ["a", "b", "c"].randomElement(using: &random)!
            let other = (random.below(3) == 0 ? "" : directory ?? "") + name
            let choice = random.below(9)
            guard let path, choice > 2 else {
                if entries[other] == nil { return add(other, choice) }
                continue
            }
            switch choice {
            case 3: if !entries[path]!.isDirectory { return [alter(path, .modified)] }
            case 4: return [alter(path, .attributes)]
            case 5: return remove(path, atOnce: random.below(2) == 0)
            default: if let moved = move(path, to: other) { return [moved] }
            }
        }
    }

    private mutating func set(_ path: String, isDirectory: Bool) {
        lastContents += 1
        entries[path] = Entry(isDirectory: isDirectory, contents: lastContents)
    }

    /// Makes a file, or a directory, or one with a file in it.
    private mutating func add(_ path: String, _ choice: Int) -> [Change] {
        set(path, isDirectory: choice > 0)
        guard choice == 2 else { return [change(.created, path)] }
        set(path + "/a", isDirectory: false)
        return [change(.created, path), change(.created, path + "/a")]
    }

    private mutating func alter(_ path: String, _ kind: FoldedChanges.Kind) -> Change {
        set(path, isDirectory: entries[path]!.isDirectory)
        return change(kind, path)
    }

    private mutating func remove(_ path: String, atOnce: Bool) -> [Change] {
        let gone = (atOnce ? [path] : below(path)).sorted().reversed()
        let changes = gone.map { change(.removed, $0, isDirectory: entries[$0]!.isDirectory) }
        for path in below(path) { entries[path] = nil }
        return changes
    }

    /// Returns `nil` if the system would refuse that.
    private mutating func move(_ path: String, to other: String) -> Change? {
        let (old, there) = (entries[path]!, entries[other])
        guard path != other, !other.hasPrefix(path + "/"), below(other).count <= 1,
            there == nil || there!.isDirectory == old.isDirectory
        else { return nil }
        rename(path, to: other)
        return Change(
            kind: .moved(from: relative(path)), path: relative(other), isDirectory: old.isDirectory,
            replaces: there != nil)
    }

    private func change(_ kind: FoldedChanges.Kind, _ path: String, isDirectory: Bool = false) -> Change {
        Change(kind: kind, path: relative(path), isDirectory: isDirectory)
    }

    private func below(_ path: String) -> [String] {
        entries.keys.filter { $0 == path || $0.hasPrefix(path + "/") }
    }

    private mutating func rename(_ path: String, to other: String) {
        for old in below(path) {
            entries[other + old.dropFirst(path.count)] = entries.removeValue(forKey: old)
        }
    }

    // MARK: What a reader knows

    /// Does what a reader does that knows these files, and looks at those of `tree`. Returns `false` if that cannot be.
    mutating func apply(_ change: Change, lookingAt tree: RandomTree) -> Bool {
        let path = "\(change.path)"
        let place = path.split(separator: "/").dropLast().joined(separator: "/")
        guard place.isEmpty || entries[place]?.isDirectory == true else { return false }
        switch change.kind {
        case .created:
            guard entries[path] == nil else { return false }
        case .modified, .attributes:
            guard let known = entries[path] else { return false }
            guard known.isDirectory || below(path).count == 1 else { return false }
        case .removed:
            let gone = below(path)
            for path in gone { entries[path] = nil }
            return !gone.isEmpty
        case .moved(let from):
            guard entries["\(from)"] != nil, below(path).count <= 1 else { return false }
            rename("\(from)", to: path)
        }
        entries[path] = tree.entries[path]
        return entries[path] != nil
    }
}

private func relative(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }
