/// The directories of a tree, each watched before it was listed.
struct TreeScan: Sendable {
    struct Directory: Sendable {
        /// The index of the parent directory. `nil` for the first one.
        let parent: Int?
        let name: RelativePath
        let watch: CInt
        /// The entries that are not watched directories, sorted by name.
        var files: [RelativePath] = []
    }

    /// The directory to scan, and the limits of the scan.
    struct Order: Sendable {
        let root: String
        /// The identity of the root in the first scan. `nil` for the first scan itself.
        let identity: Identity?
        /// The names that lead from the root to the directory.
        let path: [RelativePath]
        /// The watch of the directory that contains the last name in `path`. `nil` if that has no watch, or `path` is
        /// empty.
        let parent: CInt?
        let isRecursive: Bool
        let limit: Int
    }

    /// The device and inode numbers of a directory, which stay the same when it is renamed.
    struct Identity: Hashable, Sendable {
        let device, inode: UInt64

        init(_ information: FileInformation) { (device, inode) = (information.device, information.inode) }
    }

    private(set) var root: Identity
    /// The path to the root. Only a scan of the whole tree follows it.
    private(set) var trail: PathTrail?
    private(set) var directories: [Directory] = []

    /// Scans as `order` says. Blocks. Throws `FileWatchError` or `SystemError`, or `GoneDirectory` if
    /// the directory does not exist.
    static func scan(
        _ order: Order, in files: any FileSystem, _ watcher: any DirectoryWatcher
    ) throws -> TreeScan {
        let trail =
            order.path.isEmpty ? try PathTrail(order.root, to: .directory, files, watcher) : nil
        var directory = try files.openDirectory(at: order.root)
        let root = Identity(try directory.information(of: .here, followsLink: false))
        let identity = order.identity ?? trail?.file.map(Identity.init)
        guard identity == nil || identity == root else { throw FileWatchError.moved(path: order.root) }
        for (index, name) in order.path.enumerated() {
            // Another directory may have this path by now.
            if index == order.path.count - 1,
                try watch(directory, isRoot: index == 0, watcher) != order.parent
            {
                throw GoneDirectory()
            }
            do throws(SystemError) {
                directory = try directory.openDirectory(name, followsLink: false)
            } catch {
                if error.meansGone { throw GoneDirectory() }
                // Nothing below it can be watched until its permissions change.
                if error.code == .permissionDenied { return TreeScan(root: root, trail: trail) }
                throw error
            }
        }
        var scan = TreeScan(root: root, trail: trail)
        try scan.add(directory, order.path.last ?? .here, parent: nil, order, watcher)
        return scan
    }

    private init(root: Identity, trail: PathTrail?) { (self.root, self.trail) = (root, trail) }

    private mutating func add(
        _ directory: any DirectoryHandle, _ name: RelativePath, parent: Int?, _ order: Order,
        _ watcher: any DirectoryWatcher
    ) throws {
        guard directories.count < order.limit else {
            throw FileWatchError.tooManyDirectories(path: order.root, limit: order.limit)
        }
        // Watched first, so that an event reports each entry that is created while the names are read.
        let watch = try Self.watch(directory, isRoot: order.path.isEmpty && parent == nil, watcher)
        let index = directories.count
        directories.append(Directory(parent: parent, name: name, watch: watch))
        let entries = try ifThere { () throws(SystemError) in try directory.sortedEntries() }
        for entry in entries ?? [] {
            guard order.isRecursive, let child = try Self.open(entry, in: directory) else {
                directories[index].files.append(entry.path)
                continue
            }
            do {
                try add(child, entry.path, parent: index, order, watcher)
            } catch is GoneDirectory {
                directories[index].files.append(entry.path)
            }
        }
    }

    /// Watches the directory. If it is gone or may not be read any more, throws `GoneDirectory`, unless it is the root.
    private static func watch(
        _ directory: any DirectoryHandle, isRoot: Bool, _ watcher: any DirectoryWatcher
    ) throws -> CInt {
        do throws(SystemError) {
            return try watcher.watch(directory, for: .ofFiles)
        } catch {
            if !isRoot, error.meansGone || error.code == .permissionDenied { throw GoneDirectory() }
            throw error
        }
    }

    /// Opens the directory `entry`. Returns `nil` if it is not a directory, if it is gone, or if it may not be read.
    private static func open(
        _ entry: DirectoryEntry, in directory: any DirectoryHandle
    ) throws(SystemError) -> (any DirectoryHandle)? {
        guard entry.kind == .directory || entry.kind == .unknown else { return nil }
        return try ifThere(or: .permissionDenied) { () throws(SystemError) in
            try directory.openDirectory(entry.path, followsLink: false)
        }
    }
}

extension DirectoryHandle {
    /// Returns the entries whose names `isWanted` accepts, in the order of their bytes.
    func sortedEntries(
        _ isWanted: (RelativePath) -> Bool = { _ in true }
    ) throws(SystemError) -> [DirectoryEntry] {
        let listing = try makeListing()
        var found: [DirectoryEntry] = []
        while case let entries = try listing.next(), !entries.isEmpty {
            found += entries.filter { isWanted($0.path) }
        }
        return found.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
    }
}

/// The error of a scan: the directory below the root does not exist.
struct GoneDirectory: Error {}
