internal import CRuntime
internal import Synchronization

/// What a loop knows about its turns.
struct TurnState {
    var isTurning = false
    var isRequested = false
    var isRunning = false
    /// The number of turns so far.
    var count: UInt64 = 0
    /// How many callbacks a turn may run.
    var budget = 4096
    /// How many jobs of other threads may still run in this turn.
    var jobAllowance = 0
    /// When the turn began, if the loop has an observer.
    var started: UInt64 = 0
    #if DEBUG
        /// How deep the stack was when the turn began; 0 if none runs.
        var stackDepth: UInt = 0
    #endif
}

extension LoopCore {
    /// Lets `callback` handle an event, then runs what is ready, up to the budget, and prepares the next wait.
    ///
    /// Each event of the driver is a turn of its own. Within another turn only `callback` is run.
    @inlinable @inline(__always)
    package func turn(_ callback: () -> Void) {
        guard tryUsualTurn() else { return unusualTurn(callback) }
        callback()
        finishTurn()
    }

    @usableFromInline
    func tryUsualTurn() -> Bool {
        if turnState.isTurning || isAttached || observer != nil { return false }
        turnState.isTurning = true
        #if DEBUG
            turnState.stackDepth = stack_depth()
        #endif
        return true
    }

    @usableFromInline
    func unusualTurn(_ callback: () -> Void) {
        guard !turnState.isTurning else { return callback() }
        // A host knows nothing of `current`, which `run` sets otherwise.
        guard isAttached else { return startTurn(callback) }
        LoopCore.withCurrent(self) { startTurn(callback) }
    }

    private func startTurn(_ callback: () -> Void) {
        if observer != nil { turnState.started = clock }
        turnState.isTurning = true
        #if DEBUG
            turnState.stackDepth = stack_depth()
        #endif
        callback()
        finishTurn()
    }

    @usableFromInline
    func finishTurn() {
        turnState.isRequested = false
        turnState.count &+= 1
        let callbacks = ready.isEmpty ? 0 : drain()
        if callbacks > 0 { work.turnEnded(callbacks: callbacks) }
        if abandonment.isWatched { queueAbandoned() }
        reportUnhandledFailures()
        if ending.phase == .shuttingDown { goOnEnding() }
        if observer != nil { observeTurn(callbacks: callbacks) }
        turnState.isTurning = false
        #if DEBUG
            turnState.stackDepth = 0
        #endif
        if !turnState.isRunning { completedVoid = nil }
        if !ready.isEmpty || unhandled.isPending || contexts.isWaitingForTurn { requestTurn() }
        if timers.hasChanged { armTimer() }
    }

    /// Handles that the driver's clock has reached the armed deadline.
    package func timerFired() {
        timers.alarmFired()
        turn { fireTimers() }
    }

    /// Handles that another thread called `wake`.
    package func wokenUp() {
        turn {
            takeJobs()
            if stopRequested.load(ordering: .acquiring) { driver.stop() }
        }
    }

    /// Runs what is ready, up to the budget, and returns how much that was.
    @discardableResult
    func drain() -> Int {
        let most = turnState.budget
        var budget = most
        turnState.jobAllowance = most
        if slowCallbacks != nil { budget = drainWatching(budget: budget) }
        while budget > 0, runNext() { budget -= 1 }
        if turnState.jobAllowance <= 0 { queueJobs() }
        return most - budget
    }

    private func armTimer() {
        let next = timers.takeAlarm() ?? alarmAtEnd
        driver.arm(deadline: next?.deadline, keepsAlive: next?.keepsAlive ?? false)
    }

    /// Makes the driver call `requestedTurn` before it waits, when something happens outside of a turn.
    @inline(__always)
    func requestTurn() { if !turnState.isTurning, !turnState.isRequested { requestTurnFromOutside() } }

    private func requestTurnFromOutside() {
        guard ending.phase != .closed else { return failReady() }
        turnState.isRequested = true
        driver.requestTurn()
    }

    /// Fails what would wait for something to run: nothing runs on a loop that has been shut down.
    @inline(never)
    func failReady() {
        while failNext(FutureError.shutDown) {}
        reportUnhandledFailures()
    }

    /// Queues a consumer to run on its completed source. The queue takes over the reference to it.
    @inline(__always)
    func enqueue(_ cell: CellPointer, source: CellPointer) {
        ready.append(cell, source: source)
        requestTurn()
    }

    /// Queues a cell that has no source: a timer that is due, or one that runs although it was cancelled.
    func enqueue(_ object: Cell) {
        object.pointer.retain()
        enqueue(object.pointer, source: object.pointer)
    }

    /// Queues a closure of this thread, such as a job of an actor.
    func enqueue(_ job: @escaping () -> Void) { enqueue(Cell.waiting(self, step: JobStep(body: job))) }
}

/// Calls a closure that takes no outcome.
@usableFromInline
struct JobStep: Step {
    @usableFromInline let body: () -> Void

    @inlinable init(body: @escaping () -> Void) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { body() }

    @usableFromInline typealias Output = Void
}
