public import Futures

/// An open directory: the root of paths that cannot leave it.
///
/// All paths are relative, and lead through directories and symlinks below this one. A path that would leave it fails
/// with ``SystemError/Code/crossesDirectory``: by `..`, by a symlink to an absolute path, or because another program moves
/// directories meanwhile. A magic link of `/proc` fails with ``SystemError/Code/tooManyLinks``. The kernel checks paths
/// while it opens the file (`openat2` with `RESOLVE_BENEATH`). Where it cannot, the operation fails. A path that is
/// empty, begins with a slash or has a zero byte fails with ``Futures/FutureError/invalidArgument(_:)``.
///
/// Operations run on the thread pool of ``Futures/RemoteContext/files``. Several may run at the same time, and they
/// complete in any order. An operation that is cancelled before a thread has started it does not run. One that has
/// started runs to its end, and its result is dropped: a file that it opened is closed.
///
/// A directory belongs to its loop: use it only on that loop's thread. Releasing the last reference closes it. A
/// pending operation keeps ``Futures/EventLoop/run()`` from returning, but an open directory does not.
public final class Directory {
    public var loop: EventLoop { operations.loop }
    /// The path by which the directory was opened. For a directory opened below another, both paths.
    public var path: String { operations.name.directory }
    let operations: FileOperations<any DirectoryHandle>

    init(_ handle: any DirectoryHandle, _ path: String, on loop: LoopCore) {
        operations = FileOperations(handle, "directory", FileName(path: ".", directory: path), on: loop)
    }

    /// Opens the directory at `path`, which may be absolute and may contain symlinks. This is the only unrestricted
    /// path: all others stay below the directory.
    ///
    /// Fails with ``FileError``, for example with ``SystemError/Code/notFound``, ``SystemError/Code/notDirectory`` or
    /// ``SystemError/Code/permissionDenied``. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `path` is empty or has a
    /// zero byte, and with ``Futures/FutureError/shutDown`` if the loop has been shut down.
    ///
    /// ```swift
    /// let spool = Directory.open("/var/spool/example", on: loop)
    /// let size = spool.flatMap { $0.information(of: "queue/first") }.map { $0.size }
    /// ```
    public static func open(_ path: String, on loop: EventLoop) -> Future<Directory> {
        let loop = loop.core
        loop.checkThread()
        guard !path.isEmpty, !path.utf8.contains(0) else {
            return loop.failed(
                FutureError.invalidArgument(
                    "the path of a directory is empty or has a zero byte; give \".\" for the current one"))
        }
        guard !loop.isShutDown else { return loop.failed(FutureError.shutDown) }
        let (files, name) = (loop.system.fileSystem, FileName(path: path, directory: "the root"))
        return loop.runOnDisk("open", name) { try files.openDirectory(at: path) }
            .map { [unowned loop] in Directory($0, path, on: loop) }
    }

    /// Whether the directory can be used. `false` after ``close()``.
    public var isOpen: Bool {
        operations.loop.checkThread()
        return operations.isOpen
    }

    /// Opens the directory at `path` below this one. Paths cannot leave the opened directory either.
    public func openDirectory(_ path: String) -> Future<Directory> {
        let full = self.path + "/" + path
        return run("openDirectory", path) { try $0.openDirectory($1, followsLink: true) }
            .map { [unowned loop = operations.loop] in Directory($0, full, on: loop) }
    }

    /// Opens the file at `path`. With `creating`, creates it with `permissions` minus the umask of the process. With
    /// `truncating`, empties it.
    ///
    /// Fails with ``FileError``, for example with ``SystemError/Code/notFound``, ``SystemError/Code/isDirectory``, or
    /// ``SystemError/Code/alreadyExists`` with `creating: .always`. Only regular files are opened: a FIFO, a socket or a
    /// device fails with ``SystemError/Code/notSupported``, and never blocks a thread.
    public func open(
        _ path: String, _ access: File.Access = .readOnly, creating: File.Creation = .never,
        truncating: Bool = false, permissions: UInt32 = 0o666
    ) -> Future<File> {
        let creation: FileOpening.Creation =
            switch creating {
            case .never: .never
            case .ifMissing: .ifMissing
            case .always: .always
            }
        let opening = FileOpening(
            reads: access != .writeOnly, writes: access != .readOnly, creation: creation,
            truncates: truncating, permissions: permissions)
        let name = name(path)
        return run("open", path, requiring: try check(opening)) { try $0.openFile($1, opening) }
            .map { [unowned loop = operations.loop] in File($0, name, access, on: loop) }
    }

    private func check(_ opening: FileOpening) throws {
        try checkPermissions(opening.permissions)
        try requireArgument(
            opening.writes || !opening.truncates,
            "a file that is opened for reading only cannot be emptied; give .readWrite or .writeOnly")
    }

    /// Completes with a description of the file at `path`, which may be of any kind. With `followingLink: false`,
    /// describes a symlink itself. `"."` stands for the directory itself.
    public func information(of path: String, followingLink: Bool = true) -> Future<FileInformation> {
        run("information", path) { try $0.information(of: $1, followsLink: followingLink) }
    }

    /// Changes the permissions of the file at `path`, or of the file that a symlink there leads to. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if they are not from 0 to 0o7777. Before Linux 6.6, needs `/proc`.
    public func setPermissions(of path: String, to permissions: UInt32) -> Future<Void> {
        run("setPermissions", path, requiring: try checkPermissions(permissions)) {
            try $0.setPermissions(of: $1, to: permissions)
        }
    }

    /// Completes when all created, changed and removed names of this directory are on the disk. Calls `fsync`.
    public func sync() -> Future<Void> { operations.run("sync") { try $0.sync() } }

    /// Closes the directory after the operations that have started, and completes then. Files opened below it stay
    /// open. All calls have the same outcome, and cancelling one has no effect.
    @discardableResult
    public func close() -> Future<Void> { operations.close { try $0.close() } }

    /// Returns the name that errors give to the file at `path`.
    func name(_ path: String) -> FileName { FileName(path: path, directory: self.path) }

    /// Runs `body` with the path on a thread of the file pool, unless `check` throws.
    func run<Value: Sendable>(
        _ operation: String, _ path: String, requiring check: @autoclosure () throws -> Void = (),
        _ body: @escaping @Sendable (any DirectoryHandle, RelativePath) throws -> Value
    ) -> Future<Value> {
        operations.loop.checkThread()
        return operations.loop.attempt {
            let relative = try RelativePath(path)
            return operations.run(operation, name(path), requiring: try check()) { try body($0, relative) }
        }
    }

    /// Runs `body` with the directory that holds the entry at `path`, and with the name of the entry.
    func runInParent<Value: Sendable>(
        _ operation: String, _ path: String, requiring check: @autoclosure () throws -> Void = (),
        _ body: @escaping @Sendable (any DirectoryHandle, RelativePath) throws -> Value
    ) -> Future<Value> {
        run(operation, path, requiring: try check()) { directory, path in
            let (parent, name) = try path.split()
            return try directory.withDirectory(at: parent) { try body($0, name) }
        }
    }
}

extension DirectoryHandle {
    /// Calls `body` with the directory at `path`, or with this one if that is `nil`.
    func withDirectory<Value>(
        at path: RelativePath?, _ body: (any DirectoryHandle) throws -> Value
    ) throws -> Value {
        guard let path else { return try body(self) }
        return try body(openDirectory(path, followsLink: true))
    }
}

@available(
    *, unavailable, message: "A directory belongs to its loop's thread; go there with loop.execute { … }."
)
extension Directory: Sendable {}

extension Directory: CustomStringConvertible {
    /// The directory in one line, such as `directory spool`.
    public var description: String { operations.title }
}
