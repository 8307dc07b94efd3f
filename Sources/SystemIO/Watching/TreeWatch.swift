internal import Futures

/// Watches a directory or a tree.
///
/// It knows all names in its directories. So it can distinguish a new file from a replaced one, and reports a change
/// only once if both a scan and an event find it.
final class TreeWatch: TrailWatch {
    /// The maximum number of scans in a row while a tree changes.
    private static let mostLooks = 10

    let isRecursive: Bool
    private let limit: Int
    let root = WatchedDirectory(.here, in: nil)
    private var identity: TreeScan.Identity?
    private var directories: [CInt: WatchedDirectory] = [:]
    /// The directories that may have the wrong watch. They are scanned when no event waits.
    var doubtful: [WatchedDirectory] = []
    /// The directory whose rename was handled last.
    private var lastMoved: WatchedDirectory?
    /// The directories that were not at their paths. The next events report where they are.
    private var missing: [WatchedDirectory] = []
    /// The number of scans since events were lost.
    private var looks = 0
    /// The number of directories that were renamed.
    private var moves = 0
    /// The place and time of the last rename that replaced something. If the entry there is renamed right afterwards,
    /// the two may have been exchanged: the system reports an exchange as two renames.
    var replaced: (place: WatchedPlace, time: LoopInstant)?

    init(_ path: String, isRecursive: Bool, limit: Int, _ hub: FileEventHub, _ changes: ChangeBuffer) {
        (self.isRecursive, self.limit) = (isRecursive, limit)
        super.init(path, to: .directory, hub, changes)
    }

    override var directoryCount: Int { directories.count }

    override func start(_ done: @escaping () -> Void) { scan(root, tells: false, afterwards: done) }

    // MARK: Scans

    func scan(_ directory: WatchedDirectory, tells: Bool, afterwards: @escaping () -> Void = {}) {
        let others = directories.count - directory.all.count { $0.watch != nil }
        let order = TreeScan.Order(
            root: path, identity: identity, path: directory.names, parent: directory.parent?.watch,
            isRecursive: isRecursive, limit: limit - others)
        run { files, watcher in
            try TreeScan.scan(order, in: files, watcher)
        } then: { [self] result in
            do {
                let found = try result.get()
                identity = found.root
                if let trail = found.trail { install(trail) }
                install(found, at: directory, tells: tells)
                afterwards()
            } catch is GoneDirectory {
                // The event of its removal, or of a rename of it or of a directory above it, has not arrived yet.
                missing.append(directory)
            } catch FileWatchError.tooManyDirectories {
                end(FileWatchError.tooManyDirectories(path: path, limit: limit))
            } catch {
                end(reason(for: error))
            }
        }
    }

    override func workIsDone() {
        while let directory = doubtful.popLast() {
            guard directory.watch == nil || directory.wasMoved, directory.isBelow(root) else { continue }
            directory.wasMoved = false
            return scan(directory, tells: true)
        }
        guard mustFollow, let identity, let before = trail?.mounts.below else { return }
        follow { [self] in
            guard let trail, let found = trail.file.map(TreeScan.Identity.init) else { return }
            if found == identity {
                hasLostEvents = isRecursive && trail.mounts.below != before
            } else if found.device == identity.device || trail.mounts.all.has(device: identity.device) {
                end(FileWatchError.moved(path: path))
            } else {
                end(FileWatchError.unmounted(path: path))
            }
        }
    }

    override func lookAtEverything() {
        scan(root, tells: false) { [self] in
            looks += 1
            if namesHaveChanged, looks < Self.mostLooks {
                hasLostEvents = true
            } else {
                // Reported once all directories are watched, so that nothing is missed after the user has looked.
                looks = 0
                changes.lookAgain()
            }
        }
    }

    private func install(_ scan: TreeScan, at directory: WatchedDirectory, tells: Bool) {
        var found: [WatchedDirectory] = []
        var names: [Set<RelativePath>] = []
        for new in scan.directories {
            var target = directory
            if let parent = new.parent {
                target = child(new.name, of: found[parent], tells: tells)
                names[parent].insert(new.name)
            }
            found.append(target)
            names.append(Set(new.files))
            // Changes in files were not reported while the directory had no watch.
            let altersFiles = tells && target.watch != new.watch
            let other = setWatch(new.watch, of: target)
            // Two paths may permanently lead to the same directory, and would take the watch from each other forever.
            if let other, other.mistake != moves {
                other.mistake = moves
                doubtful.append(other)
            }
            for name in new.files {
                if altersFiles, case .some(nil) = target.entries[name] {
                    changes.add(.modified, target.path(of: name))
                }
                appear(name, in: target, directory: nil, tells: tells)
            }
        }
        for (directory, names) in zip(found, names) {
            for (gone, entry) in directory.entries where !names.contains(gone) {
                forget(gone, in: directory)
                if tells { changes.add(.removed, directory.path(of: gone), isDirectory: entry != nil) }
            }
        }
    }

    /// Returns the known directory with the name, or adds it.
    private func child(_ name: RelativePath, of parent: WatchedDirectory, tells: Bool) -> WatchedDirectory {
        if case let child?? = parent.entries[name] { return child }
        let child = WatchedDirectory(name, in: parent)
        appear(name, in: parent, directory: child, tells: tells)
        return child
    }

    private func appear(
        _ name: RelativePath, in parent: WatchedDirectory, directory: WatchedDirectory?, tells: Bool
    ) {
        let known = parent.entries[name]
        parent.entries[name] = .some(directory)
        if case let old?? = known { drop(old) }
        guard tells else { return }
        if let known {
            guard known != nil || directory != nil else { return }
            changes.add(.removed, parent.path(of: name), isDirectory: known != nil)
        }
        changes.add(.created, parent.path(of: name))
    }

    /// Returns the directory that had this watch before. That directory was scanned while `directory` was at its path.
    private func setWatch(_ watch: CInt, of directory: WatchedDirectory) -> WatchedDirectory? {
        guard directory.watch != watch else { return nil }
        giveUpWatch(of: directory)
        let other = directories[watch]
        if let other { other.watch = nil } else { hub.retain(watch, by: self) }
        directory.watch = watch
        directories[watch] = directory
        return other
    }

    func giveUpWatch(of directory: WatchedDirectory) {
        guard let watch = directory.watch.take() else { return }
        directories[watch] = nil
        hub.release(watch, by: self)
    }

    func forget(_ name: RelativePath, in parent: WatchedDirectory) {
        if case let directory?? = parent.entries.removeValue(forKey: name) { drop(directory) }
    }

    private func drop(_ directory: WatchedDirectory) {
        for gone in directory.all { giveUpWatch(of: gone) }
    }

    override func releaseWatches() {
        for watch in directories.keys.sorted() { hub.release(watch, by: self) }
        directories = [:]
        super.releaseWatches()
    }

    // MARK: Events

    override func handleChange(_ event: FileEvent) {
        super.handleChange(event)
        // If the renamed directory had its own watch, the event of that watch comes next.
        if let moved = lastMoved.take(), event.changes.contains(.selfMoved), event.watch == moved.watch {
            moved.wasMoved = false
        }
        if let name = event.name, WatchedPlace(watch: event.watch, name: name) == trail?.end {
            // A rename of the root has an event of its own.
            if event.changes.contains(.deleted) { return end(FileWatchError.removed(path: path)) }
            if event.changes.contains(.movedTo) { return end(FileWatchError.moved(path: path)) }
        }
        guard let directory = directories[event.watch] else { return }
        doubtful += missing
        missing = []
        guard let name = event.name else { return handleChange(ofDirectory: directory, event.changes) }
        let (isDirectory, place) = (
            event.changes.contains(.isDirectory), WatchedPlace(watch: event.watch, name: name)
        )
        if !event.changes.isDisjoint(with: [.created, .movedTo]) {
            let isRenamed = event.changes.contains(.movedTo)
            if isRenamed, directory.entries[name] != nil { replaced = (place, eventTime) }
            comes(name, to: directory, isDirectory: isDirectory, isRenamed: isRenamed)
        } else if !event.changes.isDisjoint(with: [.deleted, .movedFrom]) {
            if event.changes.contains(.movedFrom), mayBeExchanged(place) { return }
            goes(name, from: directory, isDirectory: isDirectory)
        } else if let known = directory.entries[name] {
            // An unknown name has vanished since, or its creation has not been reported yet.
            let path = directory.path(of: name)
            if event.changes.contains(.modified) {
                changes.add(.modified, path)
            } else {
                changes.add(.attributes, path)
                // It may not have been readable until now.
                if let known {
                    doubtful.append(known)
                } else {
                    add(name, to: directory, isDirectory: isDirectory)
                }
            }
        }
    }

    override func handleRename(_ source: FileEvent, _ target: FileEvent) -> Bool {
        lastMoved = nil
        guard let from = directories[source.watch], let to = directories[target.watch], let old = source.name,
            let new = target.name, let entry = from.entries[old]
        else { return false }
        let isDirectory = source.changes.contains(.isDirectory)
        // A scan has already found the directory that took the name since.
        guard isDirectory || entry == nil else { return false }
        if let entry, to.isBelow(entry) {
            // A directory cannot be renamed to a place below itself, so this is another one.
            hasLostEvents = true
            return true
        }
        if mayBeExchanged(WatchedPlace(watch: source.watch, name: old)) { return true }
        let oldPath = from.path(of: old)
        from.entries[old] = nil
        let replaces = to.entries[new] != nil
        if replaces { replaced = (WatchedPlace(watch: target.watch, name: new), eventTime) }
        forget(new, in: to)
        changes.add(
            .moved(from: oldPath), to.path(of: new), isDirectory: isDirectory, replaces: replaces)
        guard let entry else {
            // A directory may have been renamed between two steps of a scan, which took it for a file.
            add(new, to: to, isDirectory: isDirectory)
            return true
        }
        moves += 1
        to.entries[new] = .some(entry)
        entry.move(to: to, as: new)
        // A scan may have found another directory under the old name.
        entry.wasMoved = true
        lastMoved = entry
        doubtful.append(entry)
        return true
    }
}
