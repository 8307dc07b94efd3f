public import Futures

extension Directory {
    /// Creates a file without a name in this directory, open for reading and writing. It vanishes when it is closed or
    /// the process ends, unless ``link(_:as:)`` gives it a name.
    ///
    /// Where the file system does not support such files, creates one with a name and removes the name. Then
    /// ``link(_:as:)`` fails. Calls `openat2` with `O_TMPFILE`.
    public func makeTemporaryFile(permissions: UInt32 = 0o600) -> Future<File> {
        let number = operations.loop.random.next()
        let name = FileName(path: ".", directory: path)
        return operations.run("makeTemporaryFile", requiring: try checkPermissions(permissions)) {
            directory -> any FileHandle in
            do throws(SystemError) {
                return try directory.makeUnnamedFile(permissions: permissions)
            } catch {
                // A kernel or a file system that does not know the flag returns EISDIR.
                guard error.code == .notSupported || error.code == .isDirectory else { throw error }
                let opening = FileOpening(writes: true, creation: .always, permissions: permissions)
                let temporary = RelativePath(temporary: number, prefix: ".temporary-")
                let file = try directory.openFile(temporary, opening)
                try directory.remove(temporary, isDirectory: false)
                return file
            }
        }
        .map { [unowned loop = operations.loop] in File($0, name, .readWrite, on: loop) }
    }

    /// Gives a file of ``makeTemporaryFile(permissions:)`` the name `path`. Fails with ``SystemError/Code/alreadyExists`` if the
    /// name is taken. Calls `linkat`. Needs `/proc`, or `CAP_DAC_READ_SEARCH`. Traps if the file belongs to another loop.
    public func link(_ file: File, as path: String) -> Future<Void> {
        guard file.operations.loop === operations.loop else {
            trap(
                "A link was given a file of another event loop. Open the file and the directory on one loop."
            )
        }
        return operations.loop.attempt {
            let lease = try file.operations.borrow()
            return runInParent("link", path) { try $0.link(unnamed: lease.handle, as: $1) }
        }
    }
}

extension RelativePath {
    /// Creates the name of a temporary file: `prefix` and 16 digits.
    init(temporary number: UInt64, prefix: String) {
        let digits = String(number, radix: 16)
        self.init(bytes: Array("\(prefix)\(String(repeating: "0", count: 16 - digits.count))\(digits)".utf8))
    }
}
