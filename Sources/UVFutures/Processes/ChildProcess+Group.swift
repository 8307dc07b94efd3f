internal import Futures

/// What is known of a group whose leader has ended.
///
/// The system tells of the end of a process and of no group. A descriptor of each process would not do: a process may
/// leave the group, or start another, without an event. So the group is looked at again and again, less often each time,
/// and more often from a request to end on. One look is mostly a few calls of the system.
struct GroupWatch {
    fileprivate static let shortest: Duration = .milliseconds(1)
    fileprivate var exit: ChildProcess.Exit?
    fileprivate var timer: ScheduledTask<Void>?
    fileprivate var pause = shortest
    /// The longest pause between two looks.
    fileprivate var limit: Duration = .seconds(1)
}

extension ChildProcess {
    /// Whether the child leads a group of its own.
    var leadsGroup: Bool { configuration.group != .inherited || configuration.terminal != nil }

    /// Whether there is a process of the group that could get a signal.
    var isGroupThere: Bool {
        guard let exit = groupWatch.exit, isThere, !handle.groupLives else { return isThere }
        groupWatch.timer?.cancel()
        gone(.success(exit))
        return false
    }

    /// Waits for the end of the group, because its leader has ended.
    func watchGroup(_ exit: Exit) {
        guard isThere else { return }
        groupWatch.exit = exit
        guard leadsGroup else { return gone(.success(exit)) }
        guard isGroupThere else { return }
        let timer = core.schedule(after: groupWatch.pause) { [unowned self] in watchGroup(exit) }
        timer.future.ignoreFailure()
        groupWatch.timer = timer
        groupWatch.pause = min(groupWatch.pause * 2, groupWatch.limit)
    }

    /// Looks at the group soon and often, because it has got a signal at which it ends.
    func hurryGroup() {
        groupWatch.limit = .milliseconds(50)
        groupWatch.pause = GroupWatch.shortest
        guard let exit = groupWatch.exit else { return }
        groupWatch.timer?.cancel()
        watchGroup(exit)
    }
}
