/// The way to a file or a directory: the directories in which a change may give the path another one, each watched.
///
/// These are the directory of the file and, if the path leads through links, those of the links, for the names in them.
/// The directories on the way to these are watched for their own renames.
struct PathTrail: Sendable {
    /// What the path leads to.
    enum Target: Sendable {
        /// A file, which is watched through its directory, and may not be there.
        case file
        /// A directory, which has to be there. Watched is what leads to it.
        case directory
    }

    /// The most links that a path may lead through, as in the system.
    private static let mostLinks = 40
    /// How often the way is followed while it changes.
    private static let attempts = 1000

    private(set) var places: [WatchedPlace] = []
    /// These directories, or the target, as entries of those above, which tell their removal also while programs have
    /// them open.
    private(set) var above: [WatchedPlace] = []
    /// The place of the last component of the path, behind all links. `nil` if the path leads nowhere.
    private(set) var end: WatchedPlace?
    /// The watch of the file itself, if it is mounted at its place.
    private(set) var mounted: CInt?
    /// The file or the directory. `nil` if there is none.
    private(set) var file: FileInformation?
    private(set) var watches: Set<CInt> = []
    /// What is mounted anywhere, and below the directory.
    private(set) var mounts: (all: MountTable, below: MountTable) = (MountTable(), MountTable())

    private let target: Target
    private let files: any FileSystem
    private let watcher: any DirectoryWatcher
    /// The directory from which `walked` leads on, without links.
    private var base = ""
    private var walked: [RelativePath] = []
    /// The components that are to be walked, in reverse. `isLink` marks those of the target of a link.
    private var rest: [(name: RelativePath, isLink: Bool)] = []
    /// What each name on the way was of.
    private var found: [TreeScan.Identity?] = []

    /// Follows `path`. Blocks. The error is a `FileWatchError`.
    init(_ path: String, to target: Target, _ files: any FileSystem, _ watcher: any DirectoryWatcher) throws {
        (self.target, self.files, self.watcher) = (target, files, watcher)
        do {
            // What has changed before its directory was watched is not told. So the way is followed until it is the
            // same twice: then all of it was watched before it was looked at.
            var before: [TreeScan.Identity?]?
            for _ in 0..<Self.attempts {
                let isWhole = try walk(path)
                if isWhole, found == before { return }
                before = isWhole ? found : nil
            }
            throw UVError(.wouldBlock, "open")
        } catch let error as UVError {
            throw FileWatchError(error, path: path)
        }
    }

    private mutating func push(_ path: String, isLink: Bool) {
        rest += RelativePath(checked: path).components.reversed().map { ($0, isLink) }
    }

    /// Follows the way from its beginning. Returns `false` if something has gone between two looks at it.
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
            let looked = try Self.ifThere { () throws(UVError) in
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
                throw UVError(.tooManyLinks, "open")
            }
            guard let text = try Self.target(of: (walked + [name]).joined, in: directory) else {
                return false
            }
            if RelativePath(checked: text).isAbsolute { (base, walked) = ("/", []) }
            push(text, isLink: true)
        }
        return try target == .file || watchTarget()
    }

    private func openBase() throws(UVError) -> any DirectoryHandle {
        let directory = try files.openDirectory(at: base)
        // The directory of the process stays at its path when it is removed.
        let linkCount = try directory.information(of: .here, followsLink: false).linkCount
        guard linkCount > 0 else { throw UVError(.notFound, "open") }
        return directory
    }

    /// The path up to the component `name`.
    private func prefix(_ name: RelativePath) -> String {
        (base == "/" ? "/" : "") + (walked + [name]).joined.description
    }

    /// Returns `nil` if `body` finds nothing.
    private static func ifThere<Value>(_ body: () throws(UVError) -> Value) throws(UVError) -> Value? {
        do throws(UVError) {
            return try body()
        } catch {
            if error.meansGone { return nil }
            throw error
        }
    }

    private static func target(
        of link: RelativePath, in directory: any DirectoryHandle
    ) throws(UVError) -> String? {
        do throws(UVError) {
            return try ifThere { () throws(UVError) in try directory.symbolicLinkTarget(link) }
        } catch {
            // It is no link any more.
            if error.code == .invalidArgument { return nil }
            throw error
        }
    }

    /// Watches a directory on the way for its own renames. One that this user may not read cannot be watched. Returns
    /// `false` if it has gone.
    private mutating func watchItself(
        _ path: RelativePath, in directory: any DirectoryHandle
    ) throws(UVError) -> Bool {
        do throws(UVError) {
            let watch = try Self.ifThere { () throws(UVError) in
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

    /// Watches the directory that has been walked to for the names in it, the directory above, and `name` itself if it
    /// is mounted. Returns `nil` if it has gone.
    private mutating func watchNames(
        _ name: RelativePath, in directory: any DirectoryHandle, for changes: FileEventMask
    ) throws(UVError) -> CInt? {
        try Self.ifThere { () throws(UVError) in
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

    private mutating func watchAbove(_ directory: any DirectoryHandle) throws(UVError) -> WatchedPlace? {
        let place = try watcher.watchAbove(directory)
        if let place { watches.insert(place.watch) }
        return place
    }

    private mutating func watchTarget() throws(UVError) -> Bool {
        let path = walked.isEmpty ? RelativePath.here : walked.joined
        let directory = try openBase()
        guard
            let opened = try Self.ifThere({ () throws(UVError) in
                try directory.openDirectory(path, followsLink: false)
            })
        else { return false }
        watches.insert(try watcher.watch(opened, for: .selfMoved))
        end = try watchAbove(opened)
        mounts = watcher.mounts(below: opened)
        file = try opened.information(of: .here, followsLink: false)
        found.append(TreeScan.Identity(file!))
        return true
    }
}

extension [RelativePath] {
    /// The path that leads through all of these names.
    var joined: RelativePath {
        RelativePath(bytes: [UInt8](map(\.bytes).joined(separator: CollectionOfOne(UInt8(ascii: "/")))))
    }
}
