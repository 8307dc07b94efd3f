internal import Futures

/// Walks through a directory tree, one portion at a time. One thread at a time uses it.
final class TreeWalker: Sendable {
    private struct State {
        var levels: [TreeLevel] = []
        var count = 0
        var device: UInt64?
    }

    private static let portion = 256
    private let maxDepth: Int
    private let maxEntries: Int
    private let staysOnDevice: Bool
    private let name: FileName
    private let state = Locked(State())

    init(maxDepth: Int, maxEntries: Int, staysOnDevice: Bool, _ name: FileName) {
        self.maxDepth = maxDepth
        self.maxEntries = maxEntries
        self.staysOnDevice = staysOnDevice
        self.name = name
    }

    func begin(at directory: any DirectoryHandle) throws {
        try state.withLock { state in
            if staysOnDevice {
                state.device = try directory.information(of: .here, followsLink: false).device
            }
            state.levels = [try TreeLevel(directory, nil)]
        }
    }

    /// Returns the next entries. Returns an empty array at the end.
    func next() throws -> [TreeEntry] {
        try state.withLock { state in
            var entries: [TreeEntry] = []
            while entries.count < Self.portion, !state.levels.isEmpty {
                if let entry = try next(&state) { entries.append(entry) }
            }
            return entries
        }
    }

    private func next(_ state: inout State) throws -> TreeEntry? {
        let top = state.levels.count - 1
        guard let entry = try describing(state.levels[top].path, { try state.levels[top].next() }) else {
            state.levels.removeLast()
            return nil
        }
        state.count += 1
        guard state.count <= maxEntries else { throw TreeError.tooManyEntries(limit: maxEntries) }
        let path = state.levels[top].path(of: entry.path)
        if entry.kind == .directory || entry.kind == .unknown { try enter(entry.path, path, &state) }
        return TreeEntry(path, entry.kind, depth: top)
    }

    private func enter(_ entry: RelativePath, _ path: RelativePath, _ state: inout State) throws {
        do throws(SystemError) {
            let directory = try state.levels.last!.directory.openDirectory(entry, followsLink: false)
            if let device = state.device,
                try directory.information(of: .here, followsLink: false).device != device
            {
                return
            }
            guard state.levels.count < maxDepth else { throw SystemError(.tooManyLinks, "depth") }
            state.levels.append(try TreeLevel(directory, path))
        } catch {
            if error.operation == "depth" { throw TreeError.tooDeep(path: path.description, limit: maxDepth) }
            // It has been removed, moved or swapped since it was listed, or it is not a directory.
            if [.notFound, .crossesDirectory, .notDirectory, .tooManyLinks].contains(error.code) { return }
            try describing(path) { throw error }
        }
    }

    private func describing<Value>(_ path: RelativePath?, _ body: () throws -> Value) throws -> Value {
        let text = path.map { "\(name.path)/\($0)" } ?? name.path
        return try FileName(path: text, directory: name.directory).describing("walk", body)
    }
}
