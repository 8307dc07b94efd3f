internal import Futures

/// Removes a directory tree, one step at a time. One thread at a time uses it.
final class TreeRemover: Sendable {
    private struct State {
        /// The directory that holds the root of the tree.
        var parent: (any DirectoryHandle)?
        var levels: [TreeLevel] = []
        /// How often an entry was of another kind than a moment before.
        var swaps = 0
    }

    private static let entriesOfStep = 256
    /// How often a directory is traversed again because others add entries to it.
    private static let rounds = 8
    /// How often entries may be swapped for others while the tree is removed.
    private static let maxSwaps = 64
    private let maxDepth: Int
    private let name: FileName
    private let state = Locked(State())

    init(maxDepth: Int, _ name: FileName) {
        self.maxDepth = maxDepth
        self.name = name
    }

    /// Removes `entry`, or begins to. Returns whether it is done.
    func begin(with entry: RelativePath, in parent: any DirectoryHandle) throws -> Bool {
        try state.withLock { state in
            let kind = try parent.information(of: entry, followsLink: false).kind
            state.parent = parent
            try remove(entry, kind, at: RelativePath(checked: name.path), &state)
            return state.levels.isEmpty
        }
    }

    /// Removes some entries. Returns whether all is done.
    func step() throws -> Bool {
        try state.withLock { state in
            for _ in 0..<Self.entriesOfStep where !state.levels.isEmpty {
                let top = state.levels.count - 1
                let path = state.levels[top].path!
                let entry = try describing(path) { try state.levels[top].next() }
                if let entry {
                    try remove(
                        entry.path, entry.kind, at: state.levels[top].path(of: entry.path), &state)
                } else {
                    try describing(path) { try endLevel(&state) }
                }
            }
            return state.levels.isEmpty
        }
    }

    private func remove(
        _ entry: RelativePath, _ kind: FileKind, at path: RelativePath, _ state: inout State
    ) throws {
        let directory = state.levels.last?.directory ?? state.parent!
        try describing(path) {
            do throws(SystemError) {
                if kind == .directory || kind == .unknown {
                    let opened = try directory.openUnmountedDirectory(entry)
                    guard state.levels.count < maxDepth else { throw SystemError(.tooManyLinks, "depth") }
                    state.levels.append(try TreeLevel(opened, path))
                } else {
                    try directory.remove(entry, isDirectory: false)
                }
            } catch {
                switch error.code {
                case _ where error.operation == "depth":
                    throw TreeError.tooDeep(path: path.description, limit: maxDepth)
                case .notFound: break
                case .crossesDirectory: try removeElsewhere(entry, in: directory, at: path, &state)
                case .notDirectory where kind == .unknown, .tooManyLinks where kind == .unknown:
                    try remove(entry, .regularFile, at: path, &state)
                // It was swapped for a file or a symlink, which is removed itself.
                case .notDirectory, .tooManyLinks:
                    try removeSwapped(entry, .regularFile, at: path, &state, error)
                case .isDirectory:
                    try removeSwapped(entry, .directory, at: path, &state, error)
                default: throw error
                }
            }
        }
    }

    /// Removes an entry that the kernel did not open: it was moved elsewhere, or it is a mount point, which is busy.
    private func removeElsewhere(
        _ entry: RelativePath, in directory: any DirectoryHandle, at path: RelativePath, _ state: inout State
    ) throws {
        do throws(SystemError) {
            try directory.remove(entry, isDirectory: true)
        } catch {
            switch error.code {
            case .notFound: break
            case .directoryNotEmpty: try removeSwapped(entry, .directory, at: path, &state, error)
            case .notDirectory: try removeSwapped(entry, .regularFile, at: path, &state, error)
            default: throw error
            }
        }
    }

    private func removeSwapped(
        _ entry: RelativePath, _ kind: FileKind, at path: RelativePath, _ state: inout State,
        _ error: SystemError
    ) throws {
        state.swaps += 1
        guard state.swaps <= Self.maxSwaps else { throw error }
        try remove(entry, kind, at: path, &state)
    }

    /// Removes the directory on top, which is empty unless others add to it.
    private func endLevel(_ state: inout State) throws {
        var level = state.levels.removeLast()
        let (path, name) = (level.path!, level.path!.components.last!)
        let parent = state.levels.last?.directory ?? state.parent!
        do throws(SystemError) {
            try parent.remove(name, isDirectory: true)
        } catch {
            switch error.code {
            case .notFound: break
            case .notDirectory:
                try removeSwapped(name, .regularFile, at: path, &state, error)
            case .directoryNotEmpty where level.failures < Self.rounds:
                level.failures += 1
                try level.restart()
                return state.levels.append(level)
            default: throw error
            }
        }
    }

    private func describing<Value>(_ path: RelativePath, _ body: () throws -> Value) throws -> Value {
        try FileName(path: path.description, directory: name.directory).describing("removeTree", body)
    }
}
