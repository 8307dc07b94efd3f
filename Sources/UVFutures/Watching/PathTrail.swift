/// The way to a file: the directories in which a change may give the path another file, each watched.
///
/// These are the directory of the file and, if the path leads through links, those of the links.
struct PathTrail: Sendable {
    /// The most links that a path may lead through, as in the system.
    private static let mostLinks = 40

    private(set) var places: [WatchedPlace] = []
    /// These directories as entries of those above, which tell their removal also while programs have them open.
    private(set) var above: [WatchedPlace] = []
    /// The place of the last component of the path, behind all links. `nil` if the path leads nowhere.
    private(set) var end: WatchedPlace?
    /// The file. `nil` if there is none.
    private(set) var file: FileInformation?
    var watches: [CInt] { (places + above).map(\.watch) }

    private let files: any FileSystem
    private let watcher: any DirectoryWatcher
    /// The directory from which `walked` leads on, without links.
    private var base: String
    private var walked: [RelativePath] = []
    /// The components that are to be walked, in reverse. `isLink` marks those of the target of a link.
    private var rest: [(name: RelativePath, isLink: Bool)] = []

    /// Follows `path`. Blocks. The error is a `FileWatchError`.
    init(_ path: String, _ files: any FileSystem, _ watcher: any DirectoryWatcher) throws {
        (self.files, self.watcher) = (files, watcher)
        base = path.hasPrefix("/") ? "/" : "."
        push(path, isLink: false)
        do {
            try walk(path)
        } catch let error as UVError {
            throw FileWatchError(error, path: path)
        }
    }

    private mutating func push(_ path: String, isLink: Bool) {
        rest += RelativePath(bytes: Array(path.utf8)).components.reversed().map { ($0, isLink) }
    }

    private mutating func walk(_ path: String) throws {
        var links = 0
        while let (name, isLink) = rest.popLast() {
            if name.isParent {
                if walked.popLast() == nil { base += "/.." }
                continue
            }
            let isLast = rest.isEmpty
            let directory = try files.openDirectory(at: base)
            var found = try Self.look(at: walked + [name], in: directory)
            if !isLast, found?.kind == .directory {
                walked.append(name)
                continue
            }
            guard isLast || isLink || found?.kind == .symbolicLink else {
                throw FileWatchError.removed(path: prefix(name))
            }
            let place = WatchedPlace(watch: try watch(walked, in: directory), name: name)
            places.append(place)
            // Once more: what has changed before the directory was watched is not told.
            found = try Self.look(at: walked + [name], in: directory)
            guard found?.kind == .symbolicLink else {
                if isLast { (end, file) = (place, found) }
                return
            }
            links += 1
            guard links <= Self.mostLinks else { return }
            let target = try directory.symbolicLinkTarget((walked + [name]).joined)
            if target.hasPrefix("/") { (base, walked) = ("/", []) }
            push(target, isLink: true)
        }
    }

    /// The path up to the component `name`.
    private func prefix(_ name: RelativePath) -> String {
        (base == "/" ? "/" : "") + (walked + [name]).joined.description
    }

    private static func look(
        at names: [RelativePath], in directory: any DirectoryHandle
    ) throws(UVError) -> FileInformation? {
        do throws(UVError) {
            return try directory.information(of: names.joined, followsLink: false)
        } catch {
            if error.meansGone { return nil }
            throw error
        }
    }

    /// Watches a directory, and the one above it.
    private mutating func watch(
        _ names: [RelativePath], in directory: any DirectoryHandle
    ) throws(UVError) -> CInt {
        let path = names.isEmpty ? .here : names.joined
        while true {
            let opened = try directory.openDirectory(path, followsLink: false)
            let watch = try watcher.watch(opened)
            let place = try watcher.watchAbove(opened)
            let now = try directory.information(of: path, followsLink: false)
            // The directory of the process stays at its path when it is removed.
            guard now.linkCount > 0 || !names.isEmpty else { throw UVError(.notFound, "open") }
            // Nothing tells what has happened to the directory before it was watched.
            guard try opened.information(of: .here, followsLink: false).inode == now.inode else { continue }
            if let place { above.append(place) }
            return watch
        }
    }
}

extension [RelativePath] {
    /// The path that leads through all of these names.
    var joined: RelativePath {
        RelativePath(bytes: [UInt8](map(\.bytes).joined(separator: CollectionOfOne(UInt8(ascii: "/")))))
    }
}
