internal import Futures

/// The watches of the system that running jobs have, but that no engine has taken over yet.
///
/// The system has one watch for each directory. So a job may get the number of a watch that was added for another
/// engine. If that engine has ended meanwhile, the watch must stay until the job hands it over.
final class WatchClaims: Sendable {
    private struct State {
        /// The number of running calls that may return any watch.
        var adding = 0
        /// For each watch, the number of jobs that have it.
        var jobs: [CInt: Int] = [:]
    }

    private let state = Locked(State())

    /// Runs `body` if no job has the watch or is about to get it. Returns whether it ran.
    func whileUnclaimed(_ watch: CInt, _ body: () -> Void) -> Bool {
        state.withLock { state in
            guard state.adding == 0, state.jobs[watch] == nil else { return false }
            body()
            return true
        }
    }

    /// Calls `add`, and claims the watch in what it returns, if there is one, unless `remembered` has it already.
    fileprivate func claim<Added>(
        _ watch: (Added) -> CInt?, for remembered: borrowing Locked<Set<CInt>>,
        _ add: () throws(SystemError) -> Added
    ) throws(SystemError) -> Added {
        state.withLock { $0.adding += 1 }
        let result = Result(catching: add)
        state.withLock { state in
            state.adding -= 1
            guard case .success(let added) = result, let watch = watch(added),
                remembered.withLock({ $0.insert(watch).inserted })
            else { return }
            state.jobs[watch, default: 0] += 1
        }
        return try result.get()
    }

    func end(_ watches: Set<CInt>) {
        state.withLock { state in
            for watch in watches {
                state.jobs[watch]! -= 1
                if state.jobs[watch] == 0 { state.jobs[watch] = nil }
            }
        }
    }
}

/// Claims the watches that a job adds, even if the job fails.
final class ClaimingWatcher: DirectoryWatcher {
    private let base: any DirectoryWatcher
    private let claims: WatchClaims
    private let added = Locked<Set<CInt>>([])

    init(_ base: any DirectoryWatcher, _ claims: WatchClaims) { (self.base, self.claims) = (base, claims) }

    var watches: Set<CInt> { added.withLock { $0 } }

    func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
        try claims.claim(\.self, for: added) { () throws(SystemError) in
            try base.watch(directory, for: changes)
        }
    }

    func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
        try claims.claim(\.?.watch, for: added) { () throws(SystemError) in
            try base.watchAbove(directory)
        }
    }

    func watchMounted(_ name: RelativePath, in directory: any DirectoryHandle) throws(SystemError) -> CInt? {
        try claims.claim(\.self, for: added) { () throws(SystemError) in
            try base.watchMounted(name, in: directory)
        }
    }

    func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable) {
        base.mounts(below: directory)
    }
}
