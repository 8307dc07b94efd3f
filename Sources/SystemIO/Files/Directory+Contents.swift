public import FoundationEssentials
public import Futures

extension Directory {
    /// Completes with the whole contents of the file at `path`. Fails with ``FileError`` and the code
    /// ``SystemError/Code/fileTooLarge`` if they are longer than `limit` bytes.
    ///
    /// ```swift
    /// let settings = directory.contents(of: "settings.json", limit: 65_536)
    /// ```
    public func contents(of path: String, limit: Int = 16_777_216) -> Future<Data> {
        let name = name(path)
        return run("read", path, requiring: try checkLimit(limit)) {
            try $0.openFile($1, FileOpening()).readAll(limit: limit, name)
        }
    }

    /// Atomically replaces the contents of the file at `path`, or creates the file. Whoever opens the file gets the old
    /// contents or the new ones, never a part.
    ///
    /// Writes a temporary file in the same directory, and renames it. With `durably`, everything is on the disk when
    /// the future completes, and an earlier power loss leaves the old contents or the new ones: the file is
    /// synchronised before it is renamed, and the directory afterwards. The new file has the `permissions`, by default
    /// those of the old file, or 0o666 minus the umask of the process. A symlink at `path` is replaced, not followed.
    ///
    /// Fails with ``FileError``. The old contents then stay, and the temporary file is removed. But if only the last
    /// step fails, which synchronises the directory, the new contents are in place, and a power loss may lose them. A
    /// killed process may leave a temporary file: `.replace-` and 16 digits.
    public func replace(
        _ path: String, with contents: Data, durably: Bool = true, permissions: UInt32? = nil
    ) -> Future<Void> {
        let replacement = Replacement(
            contents: contents, isDurable: durably, permissions: permissions,
            number: operations.loop.random.next(), file: name(path))
        return runInParent("replace", path, requiring: try checkPermissions(permissions ?? 0)) {
            try replacement.perform(in: $0, $1)
        }
    }

    /// Appends all of `bytes` to the file at `path`, and creates the file if it does not exist. With `durably`,
    /// completes when they are on the disk.
    public func append(_ bytes: Data, to path: String, durably: Bool = false) -> Future<Void> {
        let name = name(path)
        return run("append", path) { directory, path in
            let opening = FileOpening(reads: false, writes: true, creation: .ifMissing)
            let file = try directory.openFile(path, opening)
            try file.appendAll(bytes, name)
            if durably { try file.sync(dataOnly: false) }
            try file.close()
            guard durably else { return }
            // The name may be new.
            try directory.withDirectory(at: path.split().parent) { try $0.sync() }
        }
    }
}
