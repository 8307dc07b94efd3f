public import Futures

extension FileWatch {
    /// Watches the file at `path`. Completes once it is watched: all later changes are reported. The file need not
    /// exist yet, but its directory must.
    ///
    /// Reports ``FileChange/Kind/modified`` when the file is written, when another file takes its place, or when a
    /// symlink or a directory on the path is replaced. The watch compares the file before and after. So a file that is
    /// removed and recreated between two checks counts as modified. Renaming the file counts as a removal.
    ///
    /// Fails with ``FileWatchError``, or with ``Futures/FutureError/invalidArgument(_:)`` if `path`, `limits` or
    /// `debounce` is invalid. On Linux, uses `inotify`, and needs `/proc`.
    ///
    /// ```swift
    /// let watch = try await FileWatch.watch(file: "/etc/app.conf", on: loop).value
    /// for try await change in watch.changes { print(change) }
    /// ```
    public static func watch(
        file path: String, debounce: Duration = defaultDebounce, limits: FileWatchLimits = FileWatchLimits(),
        on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in PathWatch(path, hub, changes) }
    }

    /// Watches the entries of the directory at `path`, but not those of its subdirectories. Completes once it is
    /// watched.
    ///
    /// The watch ends with ``FileWatchError`` when `path` no longer leads to that directory: when the directory, or one
    /// on the path to it, is removed, replaced, renamed, unmounted or mounted over, or when a symlink on the path gets
    /// another target. Fails with the errors of ``watch(file:debounce:limits:on:)``.
    public static func watch(
        directory path: String, debounce: Duration = defaultDebounce,
        limits: FileWatchLimits = FileWatchLimits(), on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in
            TreeWatch(path, isRecursive: false, limit: limits.maxDirectories, hub, changes)
        }
    }

    /// Watches the directory at `path` and all directories below it. Completes once they are watched, which takes the
    /// system some microseconds for each.
    ///
    /// A new directory is watched before its contents can be missed: entries already in it are reported as
    /// ``FileChange/Kind/created``. Symlinks are not followed. A directory that this user may not read is reported, but
    /// its contents are not. Everything else is as for ``watch(directory:debounce:limits:on:)``.
    public static func watch(
        tree path: String, debounce: Duration = defaultDebounce, limits: FileWatchLimits = FileWatchLimits(),
        on loop: EventLoop
    ) -> Future<FileWatch> {
        start(path, debounce, limits, loop) { hub, changes in
            TreeWatch(path, isRecursive: true, limit: limits.maxDirectories, hub, changes)
        }
    }

    private static func start(
        _ path: String, _ debounce: Duration, _ limits: FileWatchLimits, _ loop: EventLoop,
        _ makeEngine: (FileEventHub, ChangeBuffer) -> WatchEngine
    ) -> Future<FileWatch> {
        let core = loop.core
        do {
            try core.checkRuns()
            try limits.validate()
            try requireArgument(
                !path.isEmpty && !path.utf8.contains(0),
                "the path is empty or has a zero byte; give another")
            try requireArgument(debounce >= .zero, "a debounce of \(debounce) is negative; give zero or more")
            let changes = ChangeBuffer(debounce, limit: limits.maxChanges, on: core)
            let engine = makeEngine(try FileEventHub.shared(on: core), changes)
            return FileWatch(path, changes, engine).start()
        } catch let error as SystemError {
            return core.failed(FileWatchError(error, path: path))
        } catch {
            return core.failed(error)
        }
    }
}
