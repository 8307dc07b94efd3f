internal import SystemIO

/// The files of a simulated disk.
struct SimulatedFiles: FileSystem {
    let store: DiskStore

    func openDirectory(at path: String) throws(SystemError) -> any DirectoryHandle {
        try store.with { state throws(SystemError) in
            try state.begin(.read, "open", mount: state.mount)
            let path = RelativePath(checked: path)
            try state.needDescriptor(for: path, "open")
            let found = try state.find(path, followsLink: true, "open")
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

    init(_ inode: UInt64?, _ call: String, _ store: DiskStore, _ state: inout DiskState) throws(SystemError) {
        guard let inode else { throw SystemError(.notFound, call) }
        guard state.inodes[inode]!.kind == .directory else { throw SystemError(.notDirectory, call) }
        open = OpenInode(inode, store, &state)
    }

    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any FileHandle {
        try open.run(.read, "openat2") { state throws(SystemError) in
            try state.needDescriptor(for: path, "openat2")
            let found = try state.find(
                path, below: inode, followsLink: opening.creation != .always,
                makesFile: opening.creation != .never, "openat2")
            let name = DiskName(directory: found.directory, name: found.name)
            if let file = found.inode {
                guard opening.creation != .always else { throw SystemError(.alreadyExists, "openat2") }
                switch state.inodes[file]!.kind {
                case .regularFile: break
                case .directory: throw SystemError(.isDirectory, "openat2")
                default: throw SystemError(.notSupported, "openat2")
                }
                if opening.truncates {
                    state.inodes[file]!.resize(to: 0)
                    state.touched(file, by: name)
                }
                return SimulatedFile(OpenInode(file, by: name, store, &state), opening)
            }
            guard opening.creation != .never else { throw SystemError(.notFound, "openat2") }
            try state.needSpace(1, "openat2")
            let file = state.make(.regularFile, permissions: opening.permissions & ~DiskState.mask)
            state.add(file, as: found.name, to: found.directory)
            if opening.truncates { state.touched(file, by: name) }
            return SimulatedFile(OpenInode(file, by: name, store, &state), opening)
        }
    }

    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle {
        try with(path, followsLink: followsLink, .read, "openat2") { state, _, _, inode throws(SystemError) in
            try SimulatedDirectory(inode, "openat2", store, &state)
        }
    }

    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle {
        try openDirectory(name, followsLink: false)
    }

    /// Calls `body` with the inode at `path`.
    private func with<Value: Sendable>(
        _ path: RelativePath, followsLink: Bool, _ operation: DiskState.Operation, _ call: String,
        _ body: (inout DiskState, UInt64, RelativePath, UInt64) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try open.run(operation, call) { state throws(SystemError) in
            if call == "openat2" { try state.needDescriptor(for: path, call) }
            let found = try state.find(path, below: inode, followsLink: followsLink, call)
            guard let file = found.inode else { throw SystemError(.notFound, call) }
            return try body(&state, found.directory, found.name, file)
        }
    }

    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation {
        try with(path, followsLink: followsLink, .read, "openat2") { state, _, _, file in
            state.information(file)
        }
    }

    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError) {
        try with(path, followsLink: true, .write, "openat2") { state, directory, name, file in
            state.inodes[file]!.permissions = permissions
            state.inodes[file]!.changed = state.now
            guard state.inodes[file]!.kind == .directory else {
                return state.events.add(.attributes, directory, name)
            }
            state.events.add(.attributes, file, nil, isDirectory: true)
            if let place = state.inodes[file]!.place {
                state.events.add(.attributes, place.directory, place.name, isDirectory: true)
            }
        }
    }

    func makeListing() throws(SystemError) -> any DirectoryListing {
        try open.run(.read, "openat2") { state throws(SystemError) in
            try state.needDescriptor(for: .here, "openat2")
            return SimulatedListing(OpenInode(inode, store, &state))
        }
    }

    func sync() throws(SystemError) { try open.run(.sync, "fsync") { state in state.syncNames(of: inode) } }

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError) {
        try add(name, "mkdir") { state in
            // The bit that makes entries inherit the group (setgid) is itself inherited.
            let inherited = state.inodes[inode]!.permissions & 0o2000
            return state.make(.directory, permissions: permissions & 0o1777 & ~DiskState.mask | inherited)
        }
    }

    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(SystemError) {
        try DiskState.checkLength(of: RelativePath(checked: target), "symlink")
        try add(name, "symlink") { state in
            let link = state.make(.symbolicLink, permissions: 0o777)
            state.inodes[link]!.target = target
            return link
        }
    }

    /// Adds an entry for the inode that `body` makes or returns.
    private func add(
        _ name: RelativePath, _ call: String, _ body: (inout DiskState) throws(SystemError) -> UInt64
    ) throws(SystemError) {
        try open.run(.write, call) { state throws(SystemError) in
            guard !name.isParent, try state.lookUp(name, in: inode, call) == nil else {
                throw SystemError(.alreadyExists, call)
            }
            try state.needSpace(1, call)
            state.add(try body(&state), as: name, to: inode)
        }
    }

    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError) {
        for name in [name, newName] { try DiskState.checkLength(of: name, "rename") }
        let target = (target as! SimulatedDirectory).inode
        try open.run(.write, "rename") { state throws(SystemError) in
            try state.rename(name, in: inode, to: newName, in: target, replacing: replacing)
        }
    }

    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError) {
        let call = isDirectory ? "rmdir" : "unlink"
        try open.run(.write, call) { state throws(SystemError) in
            try state.remove(name, from: inode, isDirectory: isDirectory, call)
        }
    }

    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle)
        throws(SystemError)
    {
        let source = try with(name, followsLink: false, .read, "link") { _, _, _, file in file }
        try (target as! SimulatedDirectory).add(newName, "link") { state throws(SystemError) in
            guard state.inodes[source]!.kind != .directory else { throw SystemError(.notPermitted, "link") }
            return source
        }
    }

    func symbolicLinkTarget(_ name: RelativePath) throws(SystemError) -> String {
        try with(name, followsLink: false, .read, "readlink") { state, _, _, file throws(SystemError) in
            guard state.inodes[file]!.kind == .symbolicLink else {
                throw SystemError(.invalidArgument, "readlink")
            }
            return state.inodes[file]!.target
        }
    }

    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any FileHandle {
        try open.run(.write, "openat2") { state throws(SystemError) in
            try state.needDescriptor(for: .here, "openat2")
            var opening = FileOpening.reading
            opening.writes = true
            let file = state.make(.regularFile, permissions: permissions & ~DiskState.mask)
            state.inodes[file]!.mayBeLinked = true
            // The name of the file in events. Names that it gets later are not reported.
            let name = DiskName(directory: inode, name: RelativePath(checked: "#\(file)"), isRemoved: true)
            return SimulatedFile(OpenInode(file, by: name, store, &state), opening)
        }
    }

    func link(unnamed file: any FileHandle, as name: RelativePath) throws(SystemError) {
        let source = (file as! SimulatedFile).inode
        try add(name, "link") { state throws(SystemError) in
            guard state.inodes[source]!.linkCount > 0 || state.inodes[source]!.mayBeLinked else {
                throw SystemError(.notFound, "link")
            }
            state.inodes[source]!.mayBeLinked = false
            return source
        }
    }

    func close() throws(SystemError) { open.close() }
}

/// An iteration over the entries of a simulated directory. It returns the entries that exist at the first call.
private final class SimulatedListing: DirectoryListing {
    private let directory: OpenInode
    private let isDone = Locked(false)

    init(_ directory: OpenInode) { self.directory = directory }

    func next() throws(SystemError) -> [DirectoryEntry] {
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        guard isFirst else { return [] }
        let entries = try directory.run(.read, "getdents") { state throws(SystemError) in
            let inode = state.inodes[directory.inode]!
            guard inode.linkCount > 0 else { throw SystemError(.notFound, "getdents") }
            return inode.entries.map { DirectoryEntry($0.key, state.inodes[$0.value]!.kind, inode: $0.value) }
        }
        return entries.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
    }
}
