internal import FoundationEssentials
internal import SystemIO

/// An open file of a simulated disk.
final class SimulatedFile: FileHandle {
    private let open: OpenInode
    private let reads, writes: Bool
    var descriptor: CInt? { nil }
    var birth: Int64 { 0 }
    var inode: UInt64 { open.inode }

    init(_ open: OpenInode, _ opening: FileOpening) {
        (self.open, reads, writes) = (open, opening.reads, opening.writes)
    }

    private func name(in state: DiskState) -> DiskName { state.openFiles[open.number]!! }

    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data {
        guard reads else { throw SystemError(.badDescriptor, "read") }
        guard offset <= Int.max - count else { throw SystemError(.invalidArgument, "read") }
        return try open.run(.read, "read") { state in
            state.inodes[inode]!.contents.read(count, at: offset)
        }
    }

    func write(_ bytes: Data, at offset: Int) throws(SystemError) -> Int { try put(bytes, at: offset) }

    func append(_ bytes: Data) throws(SystemError) -> Int { try put(bytes, at: nil) }

    private func put(_ bytes: Data, at offset: Int?) throws(SystemError) -> Int {
        guard writes else { throw SystemError(.badDescriptor, "write") }
        return try open.run(.write, "write") { state throws(SystemError) in
            let offset = offset ?? state.inodes[inode]!.size
            guard offset <= Int.max - bytes.count else { throw SystemError(.invalidArgument, "write") }
            guard offset < DiskState.largestFile else { throw SystemError(.fileTooLarge, "write") }
            let bytes = bytes.prefix(DiskState.largestFile - offset)
            let growth = state.inodes[inode]!.contents.growth(by: offset..<offset + bytes.count)
            try state.needSpace(growth, "write")
            state.inodes[inode]!.write(bytes, at: offset)
            // With `IN_EXCL_UNLINK`, Linux does not report writes to a removed name, but it does report other changes.
            state.touched(inode, by: name(in: state).isRemoved ? nil : name(in: state))
            return bytes.count
        }
    }

    func truncate(to size: Int) throws(SystemError) {
        guard writes else { throw SystemError(.invalidArgument, "truncate") }
        try open.run(.write, "truncate") { state throws(SystemError) in
            guard size <= DiskState.largestFile else { throw SystemError(.fileTooLarge, "truncate") }
            state.inodes[inode]!.resize(to: size)
            state.touched(inode, by: name(in: state))
        }
    }

    func sync(dataOnly: Bool) throws(SystemError) {
        let call = dataOnly ? "fdatasync" : "fsync"
        do throws(SystemError) {
            try open.run(.sync, call) { state in state.inodes[inode]!.syncContents() }
        } catch {
            // Like Linux: what could not be written counts as written, and may be lost.
            open.store.with { $0.giveUpWrites(of: inode) }
            throw error
        }
    }

    func information() throws(SystemError) -> FileInformation {
        try open.run(.read, "fstat") { state in state.information(inode) }
    }

    func setPermissions(to permissions: UInt32) throws(SystemError) {
        try open.run(.write, "chmod") { state in
            state.inodes[inode]!.permissions = permissions
            state.touched(inode, .attributes, by: name(in: state))
        }
    }

    func tryLock(exclusive: Bool) throws(SystemError) -> Bool {
        guard exclusive ? writes : reads else { throw SystemError(.badDescriptor, "lock") }
        return try open.run(.read, "lock") { state in
            let others = state.inodes[inode]!.locks.filter { $0.key != open.number }
            guard others.isEmpty || !exclusive && !others.values.contains(true) else { return false }
            state.inodes[inode]!.locks[open.number] = exclusive
            return true
        }
    }

    func unlock() throws(SystemError) {
        try open.run(.read, "unlock") { state in state.inodes[inode]!.locks[open.number] = nil }
    }

    func close() throws(SystemError) { open.close() }
}
