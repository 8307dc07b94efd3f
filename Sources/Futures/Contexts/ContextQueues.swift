/// The callbacks of a loop that wait for a turn or for idleness, and the contexts that `default` and `current` stand
/// for.
struct ContextQueues {
    /// The value of `defaultContext`.
    var standard = LocalContext.loop { didSet { inherited = lookUp() } }
    /// The context of the running callback.
    var running = LocalContext.loop { didSet { inherited = lookUp() } }
    /// Both contexts, where `Cell.Interest.placed(by:)` finds them.
    private(set) var inherited: Cell.Interest = []

    /// Callbacks for the next turn. The driver is not known to poll before that.
    private var coming = ReadyQueue()
    /// Callbacks for the next turn.
    var due = ReadyQueue()
    private var whenIdle = ReadyQueue()
    /// The turn after which the driver polls, unless something else happens. `nil` if it is not known.
    private var quietTurn: UInt64?

    var isWaitingForTurn: Bool { !due.isEmpty || !coming.isEmpty || !whenIdle.isEmpty }

    private func lookUp() -> Cell.Interest {
        let standard = standard == .current ? running : standard
        return Cell.Interest(rawValue: standard.placement | running.placement << 2)
    }

    mutating func appendForNextTurn(_ cell: CellPointer, source: CellPointer) {
        coming.append(cell, source: source)
    }

    mutating func appendForIdleness(_ cell: CellPointer, source: CellPointer) {
        whenIdle.append(cell, source: source)
        quietTurn = nil
    }

    /// Whether something waits for idleness, and the driver has polled without a result: there has been no turn after
    /// `turn`.
    func isQuiet(after turn: UInt64) -> Bool {
        !whenIdle.isEmpty && due.isEmpty && coming.isEmpty && quietTurn == turn
    }

    mutating func takeIdle() -> CellPointer? { whenIdle.takeFirst() }

    /// Notes that the driver polls before it asks for the turn after `turn`.
    mutating func willPoll(after turn: UInt64) {
        due.append(contentsOf: &coming)
        quietTurn = turn
    }

    /// Moves everything that waits for a turn to `queue`.
    mutating func moveAll(to queue: inout ReadyQueue) {
        queue.append(contentsOf: &due)
        queue.append(contentsOf: &coming)
        queue.append(contentsOf: &whenIdle)
    }
}
