public import Futures

extension Directory {
    /// Returns a sequence of the entries of the directory at `path`, without `.` and `..`, in no particular order. Use
    /// it in a loop such as `for try await entry in directory.entries() { … }`.
    ///
    /// Each iteration starts over. Entries created or removed during the iteration may or may not appear. The sequence
    /// fails with ``FileError``. Calls `getdents64`.
    public func entries(of path: String = ".") -> LoopSequence<DirectoryEntry> {
        let (loop, name) = (operations.loop, name(path))
        return LoopSequence(on: loop) { [self] in
            var listing: (any DirectoryListing)?
            let portions = Portions(on: loop) { [self] in
                if let listing { return loop.list(listing, name) }
                return run("entries", path) { directory, path in
                    try directory.withDirectory(at: path) { try $0.makeListing() }
                }
                .flatMap { made -> Future<[DirectoryEntry]> in
                    listing = made
                    return loop.list(made, name)
                }
            }
            return .init(next: { portions.next() })
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
        let (loop, name) = (operations.loop, name(path))
        return LoopSequence(on: loop) { [self] in
            do {
                try checkTree(maxDepth: maxDepth, maxEntries: maxEntries)
            } catch {
                return .init(next: { loop.failed(error) })
            }
            let walker = TreeWalker(
                maxDepth: maxDepth, maxEntries: maxEntries, staysOnDevice: staysOnDevice, name)
            var hasBegun = false
            let portions = Portions(on: loop) { [self] in
                if hasBegun { return loop.runOnDisk("walk", name) { try walker.next() } }
                hasBegun = true
                return run("walk", path) { directory, path in
                    try walker.begin(at: directory.openDirectory(path, followsLink: true))
                    return try walker.next()
                }
            }
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

extension LoopCore {
    fileprivate func list(_ listing: any DirectoryListing, _ name: FileName) -> Future<[DirectoryEntry]> {
        runOnDisk("entries", name) { try name.describing("entries") { try listing.next() } }
    }
}
