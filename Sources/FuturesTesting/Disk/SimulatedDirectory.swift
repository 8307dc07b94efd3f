internal import UVFutures

/// The files of a simulated disk.
struct SimulatedFiles: FileSystem {
    let store: DiskStore

    func openDirectory(at path: String) throws(UVError) -> any DirectoryHandle {
        try store.change { state throws(UVError) in
            try state.begin(.read, "open", mount: state.mount)
            let found = try state.find(
                RelativePath(checked: path), from: DiskState.root, followsLink: true,
                staysBelow: false, "open")
            return try SimulatedDirectory(found.inode, "open", store, &state)
        }
    }
}

/// An open directory of a simulated disk.
final class SimulatedDirectory: DirectoryHandle {
    private let open: OpenInode
    var descriptor: CInt? { nil }
    var inode: UInt64 { open.inode }
    var store: DiskStore { open.store }

    init(_ inode: UInt64?, _ call: String, _ store: DiskStore, _ state: inout DiskState) throws(UVError) {
        guard let inode else { throw UVError(.notFound, call) }
        guard state.inodes[inode]!.kind == .directory else { throw UVError(.notDirectory, call) }
        open = OpenInode(inode, store, &state)
    }

    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(UVError) -> any FileHandle {
        try open.run(.read, "openat2") { state throws(UVError) in
            let follows = opening.creation != .always
            let found = try state.find(path, from: inode, followsLink: follows, staysBelow: true, "openat2")
            if let file = found.inode {
                guard opening.creation != .always else { throw UVError(.alreadyExists, "openat2") }
                switch state.inodes[file]!.kind {
                case .regularFile: break
                case .directory: throw UVError(.isDirectory, "openat2")
                default: throw UVError(.notSupported, "openat2")
                }
                if opening.truncates, state.inodes[file]!.size > 0 {
                    state.inodes[file]!.resize(to: 0)
                    state.touched(file)
                }
                return SimulatedFile(OpenInode(file, store, &state), opening)
            }
            guard opening.creation != .never else { throw UVError(.notFound, "openat2") }
            try state.needSpace(1, "openat2")
            let file = state.make(.regularFile, permissions: opening.permissions & ~0o022)
            state.add(file, as: found.name, to: found.directory)
            return SimulatedFile(OpenInode(file, store, &state), opening)
        }
    }

    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(UVError) -> any DirectoryHandle {
        try open.run(.read, "openat2") { state throws(UVError) in
            let found = try state.find(
                path, from: inode, followsLink: followsLink, staysBelow: true, "openat2")
            return try SimulatedDirectory(found.inode, "openat2", store, &state)
        }
    }

    func openUnmountedDirectory(_ name: RelativePath) throws(UVError) -> any DirectoryHandle {
        try openDirectory(name, followsLink: false)
    }

    /// Calls `body` with the inode at `path`.
    private func with<Value: Sendable>(
        _ path: RelativePath, followsLink: Bool, _ operation: DiskState.Operation, _ call: String,
        _ body: (inout DiskState, UInt64, RelativePath, UInt64) throws(UVError) -> Value
    ) throws(UVError) -> Value {
        try open.run(operation, call) { state throws(UVError) in
            let found = try state.find(path, from: inode, followsLink: followsLink, staysBelow: true, call)
            guard let file = found.inode else { throw UVError(.notFound, call) }
            return try body(&state, found.directory, found.name, file)
        }
    }

    func information(of path: RelativePath, followsLink: Bool) throws(UVError) -> FileInformation {
        try with(path, followsLink: followsLink, .read, "openat2") { state, _, _, file in
            state.information(file)
        }
    }

    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(UVError) {
        try with(path, followsLink: true, .write, "chmod") { state, directory, name, file in
            state.inodes[file]!.permissions = permissions
            state.inodes[file]!.changed = state.now
            state.events.add(.attributes, directory, name)
        }
    }

    func makeListing() throws(UVError) -> any DirectoryListing {
        try open.run(.read, "getdents") { state in
            let entries = state.inodes[inode]!.entries.map {
                DirectoryEntry($0.key, state.inodes[$0.value]!.kind, inode: $0.value)
            }
            return SimulatedListing(entries.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) })
        }
    }

    func sync() throws(UVError) { try open.run(.sync, "fsync") { state in state.syncNames(of: inode) } }

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(UVError) {
        try add(name, "mkdir") { $0.make(.directory, permissions: permissions) }
    }

    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(UVError) {
        try add(name, "symlink") { state in
            let link = state.make(.symbolicLink, permissions: 0o777)
            state.inodes[link]!.target = target
            return link
        }
    }

    /// Adds an entry for the inode that `body` makes or returns.
    private func add(
        _ name: RelativePath, _ call: String, _ body: (inout DiskState) throws(UVError) -> UInt64
    ) throws(UVError) {
        try open.run(.write, call) { state throws(UVError) in
            guard state.inodes[inode]!.linkCount > 0 else { throw UVError(.notFound, call) }
            guard state.inodes[inode]!.entries[name] == nil else { throw UVError(.alreadyExists, call) }
            try state.needSpace(1, call)
            state.add(try body(&state), as: name, to: inode)
        }
    }

    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(UVError) {
        let target = (target as! SimulatedDirectory).inode
        try open.run(.write, "rename") { state throws(UVError) in
            try state.rename(name, in: inode, to: newName, in: target, replacing: replacing)
        }
    }

    func remove(_ name: RelativePath, isDirectory: Bool) throws(UVError) {
        let call = isDirectory ? "rmdir" : "unlink"
        try open.run(.write, call) { state throws(UVError) in
            try state.remove(name, from: inode, isDirectory: isDirectory, call)
        }
    }

    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle) throws(UVError)
    {
        let source = try with(name, followsLink: false, .read, "link") { _, _, _, file in file }
        try (target as! SimulatedDirectory).add(newName, "link") { state throws(UVError) in
            guard state.inodes[source]!.kind != .directory else { throw UVError(.notPermitted, "link") }
            return source
        }
    }

    func symbolicLinkTarget(_ name: RelativePath) throws(UVError) -> String {
        try with(name, followsLink: false, .read, "readlink") { state, _, _, file throws(UVError) in
            guard state.inodes[file]!.kind == .symbolicLink else {
                throw UVError(.invalidArgument, "readlink")
            }
            return state.inodes[file]!.target
        }
    }

    func makeUnnamedFile(permissions: UInt32) throws(UVError) -> any FileHandle {
        try open.run(.write, "openat2") { state in
            var opening = FileOpening()
            opening.writes = true
            return SimulatedFile(
                OpenInode(state.make(.regularFile, permissions: permissions), store, &state), opening)
        }
    }

    func link(unnamed file: any FileHandle, as name: RelativePath) throws(UVError) {
        let source = (file as! SimulatedFile).inode
        try add(name, "link") { _ in source }
    }

    func close() throws(UVError) { open.close() }
}

/// A pass over the entries of a simulated directory, as they were at its beginning.
private final class SimulatedListing: DirectoryListing {
    private let rest: Locked<[DirectoryEntry]>

    init(_ entries: [DirectoryEntry]) { rest = Locked(entries) }

    func next() -> [DirectoryEntry] {
        rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
    }
}
