/// The paths between the hosts of a simulation.
final class Routes {
    private struct Ends: Hashable {
        let from, to: ObjectIdentifier
    }

    private var paths: [Ends: Path] = [:]
    /// Prepares a path between two different hosts. Called once for each path.
    var prepare: (Path) -> Void = { _ in }

    func end() {
        for path in paths.values { path.forget() }
        paths = [:]
        prepare = { _ in }
    }

    func path(from a: SimulatedHost, to b: SimulatedHost) -> Path {
        let ends = Ends(from: ObjectIdentifier(a), to: ObjectIdentifier(b))
        if let path = paths[ends] { return path }
        let path = Path(from: a, to: b)
        paths[ends] = path
        if a !== b { prepare(path) }
        return path
    }

    /// Returns the paths from `a` to `b` and back.
    func paths(between a: SimulatedHost, _ b: SimulatedHost) -> [Path] {
        [path(from: a, to: b), path(from: b, to: a)]
    }
}
