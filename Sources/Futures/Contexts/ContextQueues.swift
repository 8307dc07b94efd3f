/// The callbacks of a loop that do not run from its ready queue, and what contexts are looked up in.
struct ContextQueues {
    /// What `defaultContext` is set to.
    var standard = LocalContext.loop { didSet { inherited = lookUp() } }
    /// The context of the callback that runs.
    var running = LocalContext.loop { didSet { inherited = lookUp() } }
    /// Both of them, where `Cell.Interest.placed(by:)` finds them.
    private(set) var inherited: Cell.Interest = []

    var immediate = ReadyQueue()
    /// What was to run at once while another callback of its future did. Whoever runs that one runs these.
    var postponed = ReadyQueue()
    /// Whether what was postponed has its place in the ready queue.
    var isCatchingUp = false
    /// How many callbacks are running that were run at once.
    var depth = 0
    /// Above zero while something is being changed that callbacks are not to see half-way.
    var holds = 0

    /// For the next turn, but the driver is not known to poll before that.
    private var coming = ReadyQueue()
    /// For the next turn.
    var due = ReadyQueue()
    private var whenIdle = ReadyQueue()
    /// The turn after which the driver polls, unless something else happens. Not known if `nil`.
    private var quietTurn: UInt64?

    var isWaitingForTurn: Bool { !due.isEmpty || !coming.isEmpty || !whenIdle.isEmpty }

    private func lookUp() -> Cell.Interest {
        let standard = standard == .current ? running : standard
        return Cell.Interest(rawValue: standard.placement | running.placement << 2)
    }

    mutating func takeUpPostponed() { immediate.append(contentsOf: &postponed) }

    mutating func appendForNextTurn(_ cell: CellPointer, source: CellPointer) {
        coming.append(cell, source: source)
    }

    mutating func appendForIdleness(_ cell: CellPointer, source: CellPointer) {
        whenIdle.append(cell, source: source)
        quietTurn = nil
    }

    /// Whether something waits for idleness, and the driver has polled and nothing came of it: there has been no turn
    /// after `turn`.
    func isQuiet(after turn: UInt64) -> Bool {
        !whenIdle.isEmpty && due.isEmpty && coming.isEmpty && quietTurn == turn
    }

    mutating func takeIdle() -> CellPointer? { whenIdle.takeFirst() }

    /// The driver polls before it asks for the turn after `turn`.
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
