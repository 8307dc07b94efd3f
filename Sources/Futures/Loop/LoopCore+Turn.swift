internal import CFuturesRuntime
internal import Synchronization

/// The state of a loop's turns.
struct TurnState {
    var isTurning = false
    /// Whether a job of a task runs now, on behalf of the loop.
    var isInJob = false
    var isRequested = false
    var isRunning = false
    /// The number of turns so far.
    var count: UInt64 = 0
    /// The most callbacks that a turn runs.
    var budget = 4096
    /// The number of jobs of other threads that may still run in this turn.
    var jobAllowance = 0
    /// When the turn began, if the loop has an observer.
    var started: UInt64 = 0
    #if DEBUG
        /// The depth of the stack when the turn began. 0 if no turn runs.
        var stackDepth: UInt = 0
    #endif
}

extension LoopCore {
    /// Calls `callback`, which handles an event. Then runs what is ready, up to the budget, and prepares the
    /// next wait.
    ///
    /// Each event of the driver is a separate turn. If a turn runs already, only calls `callback`.
    @inlinable @inline(__always)
    package func turn(_ callback: () -> Void) {
        guard tryUsualTurn() else { return unusualTurn(callback) }
        callback()
        finishTurn()
    }

    @usableFromInline
    func tryUsualTurn() -> Bool {
        if turnState.isTurning || isAttached || isObserved { return false }
        turnState.isTurning = true
        #if DEBUG
            turnState.stackDepth = stack_depth()
        #endif
        return true
    }

    @usableFromInline
    func unusualTurn(_ callback: () -> Void) {
        guard !turnState.isTurning else { return callback() }
        // `run` sets `current`, but a host does not call `run`.
        guard isAttached else { return startTurn(callback) }
        workBegins()
        LoopCore.withCurrent(self) { carriedLocals.withoutValues { startTurn(callback) } }
        workEnds()
    }

    private func startTurn(_ callback: () -> Void) {
        if isObserved { turnState.started = clock }
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
        if !turnEndings.isEmpty { turnEndings.tellAll() }
        if abandonment.isWatched { queueAbandoned() }
        reportUnhandledFailures()
        if ending.phase == .shuttingDown { goOnEnding() }
        if isObserved { observeTurn(callbacks: callbacks) }
        turnState.isTurning = false
        unsafe turnShare.reset()
        #if DEBUG
            turnState.stackDepth = 0
        #endif
        if !turnState.isRunning { completedVoid = nil }
        let hasMore = !ready.isEmpty || !turnEndings.isEmpty || unhandled.isPending
        if hasMore || contexts.isWaitingForTurn { requestTurn() }
        if timers.hasChanged { armTimer() }
    }

    /// Fires the timers that are due. The driver calls this when the armed deadline has passed.
    package func timerFired() {
        timers.alarmFired()
        turn { fireTimers() }
    }

    /// Takes the jobs of other threads. The driver calls this after another thread has called `wake`.
    package func wokenUp() {
        turn {
            takeJobs()
            if stopRequested.load(ordering: .acquiring) { driver.stop() }
        }
    }

    /// Runs what is ready, until the turn has used up its share of time or its budget. Returns the number of callbacks
    /// that have run.
    @discardableResult
    func drain() -> Int {
        let most = turnState.budget
        var left = most
        turnState.jobAllowance = most
        // The clock is read after 16 callbacks, and then after as many as have run, up to 64.
        var budget = 0
        repeat {
            budget = min(left, max(16, min(most - left, 64)))
            left -= budget
            if slowCallbacks != nil { budget = drainWatching(budget: budget) }
            while budget > 0, runNext() { budget -= 1 }
            left += budget
        } while budget == 0 && left > 0 && !isTurnSpent
        if turnState.jobAllowance <= 0 { queueJobs() }
        return most - left
    }

    private func armTimer() {
        driver.arm(deadline: timers.takeAlarm() ?? alarmAtEnd, keepsAlive: timers.keepsLoopAlive)
    }

    /// Makes the driver call `requestedTurn` before it waits. Does nothing during a turn.
    @inline(__always)
    func requestTurn() { if !turnState.isTurning, !turnState.isRequested { requestTurnFromOutside() } }

    private func requestTurnFromOutside() {
        guard ending.phase != .closed else { return failReady() }
        turnState.isRequested = true
        driver.requestTurn()
    }

    /// Fails the futures in the ready queue. A loop that has been shut down runs no callbacks.
    @inline(never)
    func failReady() {
        while failNext(FutureError.shutDown) {}
        reportUnhandledFailures()
    }

    /// Adds `cell` to the ready queue. Its step will run on the outcome of `source`, which has completed. The queue
    /// takes over the reference to `cell`.
    @inline(__always)
    func enqueue(_ cell: CellPointer, source: CellPointer) {
        ready.append(cell, source: source)
        requestTurn()
    }

    /// Adds a cell without a source to the ready queue, for example a timer that is due, or a cell that runs
    /// although it was cancelled.
    func enqueue(_ object: Cell) {
        object.pointer.retain()
        enqueue(object.pointer, source: object.pointer)
    }

    /// Adds a closure of this thread to the ready queue, such as a job of an actor.
    func enqueue(_ job: @escaping () -> Void) { enqueue(Cell.waiting(self, step: JobStep(body: job))) }
}

/// A step that calls a closure, whatever the outcome of the source is.
@usableFromInline
struct JobStep: Step {
    @usableFromInline let body: () -> Void

    @inlinable init(body: @escaping () -> Void) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) { body() }
}
