/// A watch that follows its path again when something on it has changed.
class TrailWatch: WatchEngine {
    private let target: PathTrail.Target
    private(set) final var trail: PathTrail?
    private final var watches: Set<CInt> = []
    /// Whether something on the path has changed since it was followed, and what happened to the watched directories.
    private(set) final var mustFollow = false
    private final var loss: FileEventMask = []

    init(_ path: String, to target: PathTrail.Target, _ hub: FileEventHub, _ changes: ChangeBuffer) {
        self.target = target
        super.init(path, hub, changes)
    }

    /// Follows the path, and then calls `done`. Ends the watch if the path leads nowhere.
    final func follow(_ done: @escaping () -> Void) {
        mustFollow = false
        let (path, target) = (path, target)
        run { files, watcher in
            try PathTrail(path, to: target, files, watcher)
        } then: { [self] result in
            switch result {
            case .success(let trail):
                install(trail)
                done()
            case .failure(let error): end(reason(for: error))
            }
            loss = []
        }
    }

    /// Adopts the path that a job has followed.
    final func install(_ trail: PathTrail) {
        self.trail = trail
        let old = exchange(&watches, with: trail.watches)
        for watch in watches.subtracting(old).sorted() { hub.retain(watch, by: self) }
        for watch in old.subtracting(watches).sorted() { hub.release(watch, by: self) }
    }

    /// Returns the error that ends the watch because the path leads nowhere, or elsewhere.
    final func reason(for error: any Error) -> any Error {
        var reason = error
        if let error = error as? SystemError { reason = FileWatchError(error, path: path) }
        guard case FileWatchError.removed(let path) = reason else { return reason }
        if loss.contains(.unmounted) { return FileWatchError.unmounted(path: path) }
        return loss.contains(.selfMoved) ? FileWatchError.moved(path: path) : reason
    }

    override func releaseWatches() {
        for watch in watches { hub.release(watch, by: self) }
        watches = []
    }

    override func handleChange(_ event: FileEvent) {
        guard let name = event.name else { return handleChange(ofDirectory: event) }
        guard let trail else { return }
        let place = WatchedPlace(watch: event.watch, name: name)
        let isReplaced = !event.changes.isDisjoint(with: .ofReplacement)
        let isChanged = !event.changes.isDisjoint(with: .ofNames)
        if trail.above.contains(place) && isReplaced || trail.places.contains(place) && isChanged {
            mustFollow = true
        }
    }

    private func handleChange(ofDirectory event: FileEvent) {
        if event.watch < 0 { mustFollow = true }
        let ends: FileEventMask = [.selfDeleted, .selfMoved, .unmounted, .ignored]
        guard watches.contains(event.watch), !event.changes.isDisjoint(with: ends) else { return }
        mustFollow = true
        loss.formUnion(event.changes)
    }
}
