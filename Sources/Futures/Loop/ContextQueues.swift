/// The queues of the callbacks that wait for the next turn or until the loop is idle. Also holds the contexts
/// that `default` and `current` stand for.
struct ContextQueues {
    /// The value of `defaultContext`.
    var standard = LocalContext.loop { didSet { inherited = lookUp() } }
    /// The context of the running callback.
    var running = LocalContext.loop { didSet { inherited = lookUp() } }
    /// Whether closures carry values of task-locals.
    var carries = false { didSet { inherited = lookUp() } }
    /// The bits of both contexts, in the positions that `Cell.Interest.placed(by:)` expects, and `carries`: each
    /// registration reads this word anyway.
    private(set) var inherited: Cell.Interest = []

    /// The callbacks that were queued since the driver was last known to poll. They run in a turn after the
    /// next poll.
    var coming = ReadyQueue()
    /// The callbacks that run in the next requested turn.
    var due = ReadyQueue()
    var whenIdle = ReadyQueue()
    /// The number of the turn after which the driver polls, or `nil` if that is not known.
    private var quietTurn: UInt64?

    var isWaitingForTurn: Bool { !due.isEmpty || !coming.isEmpty || !whenIdle.isEmpty }

    private func lookUp() -> Cell.Interest {
        let standard = standard == .current ? running : standard
        let contexts = Cell.Interest(rawValue: standard.placement | running.placement << 2)
        return carries ? contexts.union(.carries) : contexts
    }

    mutating func appendForIdleness(_ cell: CellPointer, source: CellPointer) {
        whenIdle.append(cell, source: source)
        quietTurn = nil
    }

    /// Returns whether a callback waits until the loop is idle, and the loop is idle. The loop is idle if the
    /// driver has polled and there has been no turn after `turn`.
    func isQuiet(after turn: UInt64) -> Bool {
        !whenIdle.isEmpty && due.isEmpty && coming.isEmpty && quietTurn == turn
    }

    /// Notes that the driver polls before the next turn after `turn`.
    mutating func willPoll(after turn: UInt64) {
        due.append(contentsOf: &coming)
        quietTurn = turn
    }

    /// Moves all callbacks to `queue`.
    mutating func moveAll(to queue: inout ReadyQueue) {
        queue.append(contentsOf: &due)
        queue.append(contentsOf: &coming)
        queue.append(contentsOf: &whenIdle)
    }
}
