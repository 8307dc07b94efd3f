internal import Futures

/// The watch of one file, by its path.
///
/// The file is watched through its directory, so that it may be replaced, and may come later. When a name on the way to it
/// has changed, the way is followed again, and the file that it leads to is compared with the one before.
final class PathWatch: WatchEngine {
    private let path: String
    private let name: RelativePath
    private var places: Set<WatchedPlace> = []
    /// The directories on the way as entries of those above.
    private var above: Set<WatchedPlace> = []
    private var end: WatchedPlace?
    private var file: FileInformation?
    private var watches: [CInt] = []
    /// Whether a name on the way has changed since it was followed, and whether that was the file's own name.
    private var mustFollow = false
    private var isTouched = false
    /// What has happened to a directory on the way.
    private var loss: FileEventMask = []

    init(_ path: String, _ hub: FileEventHub, _ changes: ChangeBuffer) {
        self.path = path
        name = RelativePath(bytes: Array(path.utf8)).components.last ?? .here
        super.init(hub, changes)
    }

    override var directoryCount: Int { Set(places.map(\.watch)).count }

    override func start(_ done: @escaping () -> Void) { follow { _ in done() } }

    override func lookAtEverything() {
        follow { [self] _ in changes.lookAgain() }
    }

    override func workIsDone() {
        guard mustFollow else { return }
        follow { [self] before in tellDifference(from: before) }
    }

    private func follow(_ done: @escaping (_ before: FileInformation?) -> Void) {
        mustFollow = false
        let path = path
        let job: @Sendable (any FileSystem, any DirectoryWatcher) throws -> PathTrail = { files, watcher in
            try PathTrail(path, files, watcher)
        }
        run(job) { [self] (result: Result<PathTrail, any Error>) in
            switch result {
            case .success(let trail):
                let before = file
                install(trail)
                done(before)
            case .failure(let error): end(reason(for: error))
            }
            isTouched = false
            loss = []
        }
    }

    private func install(_ trail: PathTrail) {
        let old = watches
        watches = Set(trail.watches).sorted()
        for watch in watches where !old.contains(watch) { hub.retain(watch, by: self) }
        for watch in old where !watches.contains(watch) { hub.release(watch, by: self) }
        (places, above) = (Set(trail.places), Set(trail.above))
        (end, file) = (trail.end, trail.file)
    }

    /// Returns the error with which the watch ends because the way leads nowhere.
    private func reason(for error: any Error) -> any Error {
        guard case FileWatchError.removed(let path) = error else { return error }
        if loss.contains(.unmounted) { return FileWatchError.unmounted(path: path) }
        return loss.contains(.selfMoved) ? FileWatchError.moved(path: path) : error
    }

    private func tellDifference(from before: FileInformation?) {
        switch (before, file) {
        case (nil, nil): break
        case (nil, _?): changes.created(name)
        case (_?, nil): changes.removed(name, isDirectory: false)
        case (let before?, let now?):
            if isTouched || before.inode != now.inode || before.device != now.device
                || before.size != now.size
                || before.modified != now.modified
            {
                changes.modified(name)
            }
        }
    }

    override func releaseWatches() {
        for watch in watches { hub.release(watch, by: self) }
        watches = []
    }

    override func noteArrival(_ place: WatchedPlace) { if place == end { arrivals += 1 } }

    override func handleChange(_ event: FileEvent) {
        guard let name = event.name else { return handleChange(ofDirectory: event) }
        let place = WatchedPlace(watch: event.watch, name: name)
        if above.contains(place), !event.changes.isDisjoint(with: [.deleted, .movedTo]) { mustFollow = true }
        guard places.contains(place) else { return }
        let isFile = place == end
        if !event.changes.isDisjoint(with: [.created, .deleted, .movedFrom, .movedTo]) {
            mustFollow = true
            if isFile { isTouched = true }
        } else if isFile, mustFollow {
            // Whether the file is new is not known yet.
            isTouched = true
        } else if isFile {
            if event.changes.contains(.modified) {
                changes.modified(self.name)
            } else {
                changes.attributesChanged(self.name)
            }
        }
    }

    private func handleChange(ofDirectory event: FileEvent) {
        guard watches.contains(event.watch), event.changes != .attributes.union(.isDirectory) else { return }
        mustFollow = true
        loss.formUnion(event.changes)
        guard event.changes.contains(.ignored) else { return }
        watches.removeAll { $0 == event.watch }
        places = places.filter { $0.watch != event.watch }
        above = above.filter { $0.watch != event.watch }
    }
}
