public import Futures

extension Directory {
    /// Returns a sequence of the entries of the directory at `path`, without `.` and `..`, in no particular order. Use
    /// it in a loop such as `for try await entry in directory.entries() { … }`.
    ///
    /// Each iteration starts over. Entries created or removed during the iteration may or may not appear. The sequence
    /// fails with ``FileError``. Calls `getdents64`.
    public func entries(of path: String = ".") -> LoopSequence<DirectoryEntry> {
        sequence("entries", path) { directory, path in
            let listing = try directory.withDirectory(at: path) { try $0.makeListing() }
            return { try listing.next() }
        }
    }

    /// Returns a sequence of everything below the directory at `path`: each directory before its entries. Symlinks are
    /// not followed. Use it in a loop such as `for try await entry in directory.walk() { … }`.
    ///
    /// The walk holds two descriptors for each directory on the way down. It fails with
    /// ``TreeError/tooDeep(path:limit:)`` at a directory more than `maxDepth` levels down, and with
    /// ``TreeError/tooManyEntries(limit:)`` after `maxEntries` entries. With `staysOnDevice`, does not enter
    /// directories of other file systems. Fails with ``FileError`` if a directory cannot be read, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if a limit is negative. Entries created, moved or removed during the
    /// walk may or may not appear.
    public func walk(
        _ path: String = ".", maxDepth: Int = 128, maxEntries: Int = 1_000_000, staysOnDevice: Bool = false
    ) -> LoopSequence<TreeEntry> {
        let name = name(path)
        return sequence("walk", path, requiring: try checkTree(maxDepth: maxDepth, maxEntries: maxEntries)) {
            directory, path in
            let walker = TreeWalker(
                maxDepth: maxDepth, maxEntries: maxEntries, staysOnDevice: staysOnDevice, name)
            try walker.begin(at: directory.openDirectory(path, followsLink: true))
            return { try walker.next() }
        }
    }

    /// Returns a sequence of what is found at `path`. `begin` returns a function that finds the next elements.
    private func sequence<Element: Sendable>(
        _ operation: String, _ path: String, requiring check: @escaping @autoclosure () throws -> Void = (),
        _ begin:
            @escaping @Sendable (any DirectoryHandle, RelativePath) throws -> @Sendable () throws -> [Element]
    ) -> LoopSequence<Element> {
        let (loop, name) = (operations.loop, name(path))
        return LoopSequence(on: loop) { [self] in
            var next: (@Sendable () throws -> [Element])?
            func fetch() -> Future<[Element]> {
                if let next { return loop.runOnDisk(operation, name, next) }
                return run(operation, path, requiring: try check(), begin).flatMap { found in
                    next = found
                    return loop.runOnDisk(operation, name, found)
                }
            }
            let portions = Portions(on: loop, fetch: fetch)
            return .init(next: { portions.next() })
        }
    }

    /// Removes the file, the symlink or the whole directory at `path`.
    ///
    /// Uses descriptors only, follows no symlinks, and enters no mount points. So nothing outside the directory is
    /// removed, even if another program swaps directories for symlinks meanwhile. Fails with ``SystemError/Code/busy`` at a
    /// mount point, which stays as it is, and with ``SystemError/Code/notFound`` if nothing exists at `path`. Fails with
    /// ``TreeError/tooDeep(path:limit:)`` at a directory more than `maxDepth` levels down, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `maxDepth` is negative. After a failure or a cancellation,
    /// everything not removed by then remains.
    public func removeTree(_ path: String, maxDepth: Int = 128) -> Future<Void> {
        let (loop, name) = (operations.loop, name(path))
        let remover = TreeRemover(maxDepth: maxDepth, name)
        func goOn(_ isDone: Bool) -> Future<Void> {
            isDone
                ? loop.succeeded() : loop.runOnDisk("removeTree", name) { try remover.step() }.flatMap(goOn)
        }
        return run("removeTree", path, requiring: try checkTree(maxDepth: maxDepth)) { directory, path in
            let (parent, entry) = try path.split()
            let opened = try parent.map { path throws(SystemError) in
                try directory.openDirectory(path, followsLink: true)
            }
            return try remover.begin(with: entry, in: opened ?? directory)
        }
        .flatMap(goOn)
    }
}
