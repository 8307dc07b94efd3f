/// The path to a file or a directory. All directories in which a change may make the path lead elsewhere are watched.
///
/// These are the directory of the file and, if the path contains symlinks, the directories of the symlinks. They are
/// watched for changes of names in them. The directories that lead to them are watched for their own renames.
struct PathTrail: Sendable {
    /// The kind of the path's target.
    enum Target: Sendable {
        /// A file, which is watched through its directory and need not exist.
        case file
        /// A directory, which must exist. The path to it is watched.
        case directory
    }

    /// The maximum number of symlinks in a path, as in the system.
    private static let mostLinks = 40
    /// The maximum number of times that the path is followed while it changes.
    private static let attempts = 1000

    private(set) var places: [WatchedPlace] = []
    /// The directories of `places`, as entries of their parent directories. A parent reports the removal of a directory
    /// even while programs have it open.
    private(set) var above: [WatchedPlace] = []
    /// The place of the last component of the path, with all symlinks resolved. `nil` if the path leads nowhere.
    private(set) var end: WatchedPlace?
    /// The watch of the file itself, if it is a mount point.
    private(set) var mounted: CInt?
    /// The file or the directory. `nil` if it does not exist.
    private(set) var file: FileInformation?
    private(set) var watches: Set<CInt> = []
    /// All mounts, and those below the directory.
    private(set) var mounts: (all: MountTable, below: MountTable) = (MountTable(), MountTable())

    private let target: Target
    private let files: any FileSystem
    private let watcher: any DirectoryWatcher
    /// The directory where `walked` begins. `walked` contains no symlinks.
    private var base = ""
    private var walked: [RelativePath] = []
    /// The components that are left to walk, in reverse order. `isLink` marks those of a symlink's target.
    private var rest: [(name: RelativePath, isLink: Bool)] = []
    /// The identity of each entry on the path. `nil` for a missing one.
    private var found: [TreeScan.Identity?] = []

    /// Follows `path`. Blocks. Throws `FileWatchError` or `SystemError`.
    init(_ path: String, to target: Target, _ files: any FileSystem, _ watcher: any DirectoryWatcher) throws {
        (self.target, self.files, self.watcher) = (target, files, watcher)
        // A change before its directory is watched is not reported. So the path is followed until it is the same
        // twice: then all of it was watched before it was examined.
        var before: [TreeScan.Identity?]?
        for _ in 0..<Self.attempts {
            let isWhole = try walk(path)
            if isWhole, found == before { return }
            before = isWhole ? found : nil
        }
        throw SystemError(.wouldBlock, "open")
    }

    private mutating func push(_ path: String, isLink: Bool) {
        rest += RelativePath(checked: path).components.reversed().map { ($0, isLink) }
    }

    /// Follows the path from its beginning. Returns `false` if something on it vanished between two looks.
    private mutating func walk(_ path: String) throws -> Bool {
        (places, above, end, mounted, file, watches) = ([], [], nil, nil, nil, [])
        (base, walked, rest, found) = (RelativePath(checked: path).isAbsolute ? "/" : ".", [], [], [])
        push(path, isLink: false)
        var links = 0
        while let (name, isLink) = rest.popLast() {
            if name.isParent {
                if walked.popLast() == nil { base += "/.." }
                continue
            }
            let isLast = rest.isEmpty
            let directory = try openBase()
            let looked = try ifThere { () throws(SystemError) in
                try directory.information(of: (walked + [name]).joined, followsLink: false)
            }
            found.append(looked.map(TreeScan.Identity.init))
            if looked?.kind == .directory, !isLast || target == .directory {
                walked.append(name)
                if !isLast, try !watchItself(walked.joined, in: directory) { return false }
                continue
            }
            guard looked?.kind == .symbolicLink || target == .file && (isLast || isLink) else {
                throw FileWatchError.removed(path: prefix(name))
            }
            let isLeading = !isLast || looked?.kind == .symbolicLink
            guard let watch = try watchNames(name, in: directory, for: isLeading ? .ofNames : .ofFiles) else {
                return false
            }
            let place = WatchedPlace(watch: watch, name: name)
            places.append(place)
            guard looked?.kind == .symbolicLink else {
                if isLast { (end, file) = (place, looked) }
                return true
            }
            links += 1
            guard links <= Self.mostLinks else {
                if target == .file { return true }
                throw SystemError(.tooManyLinks, "open")
            }
            // With `.invalidArgument`, it is not a symlink any more.
            let text = try ifThere(or: .invalidArgument) { () throws(SystemError) in
                try directory.symbolicLinkTarget((walked + [name]).joined)
            }
            guard let text else { return false }
            if RelativePath(checked: text).isAbsolute { (base, walked) = ("/", []) }
            push(text, isLink: true)
        }
        return try target == .file || watchTarget()
    }

    private func openBase() throws(SystemError) -> any DirectoryHandle {
        let directory = try files.openDirectory(at: base)
        // The working directory can still be opened after it was removed.
        let linkCount = try directory.information(of: .here, followsLink: false).linkCount
        guard linkCount > 0 else { throw SystemError(.notFound, "open") }
        return directory
    }

    /// The path up to the component `name`.
    private func prefix(_ name: RelativePath) -> String {
        let names = RelativePath(checked: base).components + walked + [name]
        return (base.first == "/" ? "/" : "") + names.joined.description
    }

    /// Watches a directory on the path for its own renames. One that this user may not read cannot be watched. Returns
    /// `false` if it is gone.
    private mutating func watchItself(
        _ path: RelativePath, in directory: any DirectoryHandle
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let watch = try ifThere { () throws(SystemError) in
                let opened = try directory.openDirectory(path, followsLink: false)
                return try watcher.watch(opened, for: .selfMoved)
            }
            if let watch { watches.insert(watch) }
            return watch != nil
        } catch {
            if error.code == .permissionDenied { return true }
            throw error
        }
    }

    /// Watches the directory reached so far for the names in it, its parent directory, and `name` itself if it is
    /// mounted. Returns `nil` if the directory is gone.
    private mutating func watchNames(
        _ name: RelativePath, in directory: any DirectoryHandle, for changes: FileEventMask
    ) throws(SystemError) -> CInt? {
        try ifThere { () throws(SystemError) in
            let opened = try directory.openDirectory(
                walked.isEmpty ? .here : walked.joined, followsLink: false)
            let watch = try watcher.watch(opened, for: changes)
            watches.insert(watch)
            if let place = try watchAbove(opened) { above.append(place) }
            mounted = try watcher.watchMounted(name, in: opened)
            if let mounted { watches.insert(mounted) }
            return watch
        }
    }

    private mutating func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
        let place = try watcher.watchAbove(directory)
        if let place { watches.insert(place.watch) }
        return place
    }

    private mutating func watchTarget() throws(SystemError) -> Bool {
        let path = walked.isEmpty ? RelativePath.here : walked.joined
        let directory = try openBase()
        let there = try ifThere { () throws(SystemError) in
            try directory.openDirectory(path, followsLink: false)
        }
        guard let opened = there else { return false }
        watches.insert(try watcher.watch(opened, for: .selfMoved))
        end = try watchAbove(opened)
        mounts = watcher.mounts(below: opened)
        file = try opened.information(of: .here, followsLink: false)
        found.append(TreeScan.Identity(file!))
        return true
    }
}
