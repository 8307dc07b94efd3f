/// Watches one file by its path.
///
/// The file is watched through its directory, so it may be replaced, or created later. When a name on the path has
/// changed, the path is followed again, and the file that it leads to is compared with the previous one.
final class PathWatch: TrailWatch {
    private let name: RelativePath
    /// Whether the file's own name has changed since the path was followed.
    private var isTouched = false

    init(_ path: String, _ hub: FileEventHub, _ changes: ChangeBuffer) {
        name = RelativePath(checked: path).components.last ?? .here
        super.init(path, to: .file, hub, changes)
    }

    private var file: FileInformation? { trail?.file }

    override var directoryCount: Int { Set(trail!.places.map(\.watch)).count }

    override func start(_ done: @escaping () -> Void) { follow(done) }

    override func lookAtEverything() {
        follow { [self] in
            isTouched = false
            changes.lookAgain()
        }
    }

    override func workIsDone() {
        guard mustFollow else { return }
        let before = file
        follow { [self] in
            tellDifference(from: before)
            isTouched = false
        }
    }

    private func tellDifference(from before: FileInformation?) {
        switch (before, file) {
        case (nil, nil): break
        case (nil, _?): changes.add(.created, name)
        case (_?, nil): changes.add(.removed, name)
        case (let before?, let now?):
            if isTouched || before.inode != now.inode || before.device != now.device
                || before.size != now.size
                || before.modified != now.modified
            {
                changes.add(.modified, name)
            }
        }
    }

    override func noteArrival(_ place: WatchedPlace) { if place == trail?.end { arrivals += 1 } }

    override func handleChange(_ event: FileEvent) {
        super.handleChange(event)
        let isNamed = event.name.map { WatchedPlace(watch: event.watch, name: $0) == trail?.end } ?? false
        guard isNamed || event.watch == trail?.mounted else { return }
        if mustFollow {
            // It is not known yet whether the file is new.
            isTouched = true
        } else {
            changes.add(event.changes.contains(.modified) ? .modified : .attributes, name)
        }
    }
}
