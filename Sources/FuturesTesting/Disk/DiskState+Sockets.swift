internal import SystemIO

extension DiskState {
    /// Creates the file of a socket. Permissions given as `permissions` are not masked. Returns `nil` if a file of any
    /// kind exists there.
    mutating func makeSocket(
        _ path: RelativePath, permissions: UInt32?, _ call: String
    ) throws(SystemError) -> UInt64? {
        try begin(.write, call, mount: mount)
        // The last component is not followed, however many slashes come after it.
        let name = path.withoutLastSlashes
        let found = try find(name, followsLink: false, call)
        guard found.inode == nil else { return nil }
        guard name == path else { throw SystemError(.notFound, call) }
        try needSpace(1, call)
        let masked = (permissions ?? 0o777) & ~Self.mask
        let socket = make(.socket, permissions: masked)
        add(socket, as: found.name, to: found.directory)
        if let permissions, permissions != masked {
            do throws(SystemError) {
                try needDescriptor(for: .here, "permissions")
            } catch {
                try remove(found.name, from: found.directory, isDirectory: false, "unlink")
                throw error
            }
            inodes[socket]!.permissions = permissions
            touched(socket, .attributes)
        }
        return socket
    }

    /// The inode of the socket at `path`. A symlink there is not followed. `nil` if there is no socket.
    func socket(at path: RelativePath) -> UInt64? {
        let found = try? find(path, followsLink: false, "lstat")
        guard let inode = found?.inode, inodes[inode]!.kind == .socket else { return nil }
        return inode
    }

    /// Removes the file of a socket, unless another file has replaced it.
    mutating func removeSocket(_ path: RelativePath, _ socket: UInt64) {
        guard let found = try? find(path, followsLink: false, "unlink"), found.inode == socket else { return }
        try? remove(found.name, from: found.directory, isDirectory: false, "unlink")
    }
}

extension RelativePath {
    fileprivate var withoutLastSlashes: RelativePath {
        let slash = UInt8(ascii: "/")
        guard let end = bytes.lastIndex(where: { $0 != slash }) else { return self }
        return RelativePath(bytes: Array(bytes[...end]))
    }
}
