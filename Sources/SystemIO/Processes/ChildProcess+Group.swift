internal import Futures

/// The state of the watch on a group whose leader has ended.
///
/// The system reports the end of a process, but not of a group. A descriptor for each process would not help: a process
/// may leave the group, or start another, without an event. So the group is polled, at growing intervals, and more
/// often again after a request to end it. One poll usually takes a few system calls.
struct GroupWatch {
    fileprivate static let shortest: Duration = .milliseconds(1)
    fileprivate var exit: ChildProcess.Exit?
    fileprivate var timer: ScheduledTask<Void>?
    fileprivate var pause = shortest
    /// The longest pause between two polls.
    fileprivate var limit: Duration = .seconds(1)
}

extension ChildProcess {
    /// Whether the child leads a group of its own.
    var leadsGroup: Bool { configuration.group != .inherited || configuration.terminal != nil }

    /// Whether the group still has a process that could get a signal.
    var isGroupThere: Bool {
        guard let exit = groupWatch.exit, isThere, !handle.groupLives else { return isThere }
        groupWatch.timer?.cancel()
        gone(.success(exit))
        return false
    }

    /// Waits for the end of the group after its leader has ended.
    func watchGroup(_ exit: Exit) {
        guard isThere else { return }
        groupWatch.exit = exit
        guard leadsGroup else { return gone(.success(exit)) }
        guard isGroupThere else { return }
        groupWatch.timer = core.schedule(after: groupWatch.pause) { [unowned self] in watchGroup(exit) }
        groupWatch.pause = min(groupWatch.pause * 2, groupWatch.limit)
    }

    /// Polls the group soon and often, because it has been sent a signal that should end it.
    func hurryGroup() {
        groupWatch.limit = .milliseconds(50)
        groupWatch.pause = GroupWatch.shortest
        guard let exit = groupWatch.exit else { return }
        groupWatch.timer?.cancel()
        watchGroup(exit)
    }
}
