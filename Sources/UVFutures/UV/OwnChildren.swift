internal import CFuturesSystem
internal import Futures
internal import Glibc
internal import SystemIO

/// The children that the loops of this process have started and not reaped, and the orphans that it has adopted.
///
/// The system does not tell one from the other. So a child that this library has not started counts as an orphan.
enum OwnChildren {
    private struct State {
        var numbers: Set<Int32> = []
        var starts = 0
        /// The number of changes of the two properties above.
        var changes = 0
        var isAdopting = false
    }

    private static let state = Locked(State())

    /// Notes the child that `start` starts.
    static func start(_ start: () throws -> StartedChild) rethrows -> StartedChild {
        change { $0.starts += 1 }
        defer { change { $0.starts -= 1 } }
        let child = try start()
        change { _ = $0.numbers.insert(child.id) }
        return child
    }

    /// Notes that a child has been reaped.
    static func wasReaped(_ child: Int32) { change { _ = $0.numbers.remove(child) } }

    private static func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            state.changes += 1
            body(&state)
        }
    }

    /// Makes this process adopt descendants whose parents end, or stop adopting them. Returns `false` if it does so
    /// already.
    static func adopt(_ isAdopting: Bool) throws(SystemError) -> Bool {
        let status: CInt? = state.withLock { state in
            guard state.isAdopting != isAdopting else { return nil }
            let status = adopt_orphans(isAdopting)
            if status == 0 { state.isAdopting = isAdopting }
            return status
        }
        guard let status else { return false }
        try SystemError.check(status, "adopt orphans")
        return true
    }

    /// Reaps the orphans that have ended, and returns the others. Returns `nil` if they cannot be told from other
    /// children now, because a child is being started or reaped.
    static func orphans() -> [Int32]? {
        let before = state.withLock { $0.starts == 0 ? $0.changes : nil }
        guard let before, let all = ProcessGroup.all else { return nil }
        var status: CInt = 0
        let children = all.filter { unsafe reap_process(WAIT_BY_ID, $0, WNOHANG | WNOWAIT, &status) >= 0 }
        let own = state.withLock { $0.changes == before ? $0.numbers : nil }
        guard let own else { return nil }
        return children.filter {
            unsafe !own.contains($0) && reap_process(WAIT_BY_ID, $0, WNOHANG, &status) == 0
        }
    }
}
