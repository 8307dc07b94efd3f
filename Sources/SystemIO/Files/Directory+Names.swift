public import Futures

extension Directory {
    /// Creates a directory at `path` with `permissions` minus the umask of the process. With `withParents`, also
    /// creates missing parent directories, and succeeds if the directory exists already.
    public func makeDirectory(
        _ path: String, withParents: Bool = false, permissions: UInt32 = 0o777
    ) -> Future<Void> {
        guard withParents else {
            return runInParent("makeDirectory", path, requiring: try checkPermissions(permissions)) {
                try $0.makeDirectory($1, permissions: permissions)
            }
        }
        return run("makeDirectory", path, requiring: try checkPermissions(permissions)) { directory, path in
            var current = directory
            for name in path.components {
                do throws(SystemError) {
                    try current.makeDirectory(name, permissions: permissions)
                } catch {
                    guard error.code == .alreadyExists else { throw error }
                }
                current = try current.openDirectory(name, followsLink: true)
            }
        }
    }

    /// Renames the file, the directory or the symlink at `path` to `newPath`, below `other` or below this directory.
    ///
    /// A file at `newPath` is replaced atomically: it exists at every moment. With `replacing: false`, fails with
    /// ``SystemError/Code/alreadyExists`` instead. Fails with ``SystemError/Code/crossesDirectory`` if the two paths are on
    /// different file systems. Calls `renameat2`. Traps if `other` belongs to another loop.
    public func rename(
        _ path: String, to newPath: String, in other: Directory? = nil, replacing: Bool = true
    ) -> Future<Void> {
        runInParents("rename", path, newPath, other) {
            try $0.rename($1, to: $3, in: $2, replacing: replacing)
        }
    }

    /// Creates a hard link to the file at `path`: the name `newPath`, below `other` or below this directory. A symlink
    /// is not followed. Fails with ``SystemError/Code/alreadyExists`` if the name is taken. Calls `linkat`. Traps if
    /// `other` belongs to another loop.
    public func link(_ path: String, as newPath: String, in other: Directory? = nil) -> Future<Void> {
        runInParents("link", path, newPath, other) { try $0.link($1, as: $3, in: $2) }
    }

    /// Creates a symbolic link at `path` with the text `target`, which is not checked. Operations of a ``Directory``
    /// refuse to follow a link that leaves the directory. Calls `symlinkat`.
    public func makeSymbolicLink(_ path: String, to target: String) -> Future<Void> {
        let isPath = !target.isEmpty && !target.utf8.contains(0)
        return runInParent(
            "makeSymbolicLink", path,
            requiring: try requireArgument(
                isPath, "the target of a link is empty or has a zero byte; give a path")
        ) { try $0.makeSymbolicLink($1, to: target) }
    }

    /// Completes with the text of the symbolic link at `path`. Calls `readlinkat`.
    public func target(ofSymbolicLink path: String) -> Future<String> {
        runInParent("target", path) { try $0.symbolicLinkTarget($1) }
    }

    /// Removes the file or the symlink at `path`. Fails with ``SystemError/Code/isDirectory`` if it is a directory. Calls
    /// `unlinkat`.
    public func remove(_ path: String) -> Future<Void> {
        runInParent("remove", path) { try $0.remove($1, isDirectory: false) }
    }

    /// Removes the empty directory at `path`. Fails with ``SystemError/Code/directoryNotEmpty`` if it has entries. Calls
    /// `unlinkat` with `AT_REMOVEDIR`.
    public func removeDirectory(_ path: String) -> Future<Void> {
        runInParent("removeDirectory", path) { try $0.remove($1, isDirectory: true) }
    }

    /// Runs `body` with the directories that hold the entries at `path` and at `newPath`, and with their names.
    private func runInParents(
        _ operation: String, _ path: String, _ newPath: String, _ other: Directory?,
        _ body:
            @escaping @Sendable (any DirectoryHandle, RelativePath, any DirectoryHandle, RelativePath) throws
            -> Void
    ) -> Future<Void> {
        let loop = operations.loop
        guard other?.operations.loop ?? loop === loop else {
            trap(
                "A rename or a link was given a directory of another event loop. Open both directories on one loop."
            )
        }
        return loop.attempt {
            let (target, newName) = (try (other ?? self).operations.borrow(), try RelativePath(newPath))
            return runInParent(operation, path) { parent, entry in
                let (newParent, newEntry) = try newName.split()
                try target.handle.withDirectory(at: newParent) { try body(parent, entry, $0, newEntry) }
            }
        }
    }
}
