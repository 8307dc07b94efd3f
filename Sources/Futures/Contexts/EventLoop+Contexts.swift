extension EventLoop {
    /// The context of callbacks that are registered without `on:`. It is ``LocalContext/loop`` unless set.
    ///
    /// With ``LocalContext/current`` each callback runs in the context of the callback that registered it. Setting it
    /// to ``LocalContext/default`` resets it. Callbacks that have been registered before keep their context.
    public var defaultContext: LocalContext {
        get { core.contexts.standard }
        set {
            core.checkThread()
            core.contexts.standard = newValue == .default ? .loop : newValue
        }
    }

    /// The context of the running callback, or ``LocalContext/loop`` if none runs.
    public var currentContext: LocalContext {
        core.checkThread()
        return core.contexts.running
    }
}

extension LoopCore {
    /// Queues a consumer where its context says, to run on its completed source. Takes over the reference to the
    /// consumer.
    func dispatch(_ cell: CellPointer, source: CellPointer) {
        // A loop that has been shut down looks after its ready queue only.
        switch isShutDown ? .loop : cell.interest.context {
        case .immediate where contexts.depth < LocalContext.depthLimit:
            contexts.immediate.append(cell, source: source)
            hasWorkLeft = true
        case .nextTurn:
            contexts.appendForNextTurn(cell, source: source)
            requestTurn()
        case .whenIdle:
            contexts.appendForIdleness(cell, source: source)
            requestTurn()
        default:
            enqueue(cell, source: source)
        }
    }

    /// Queues a cell without a source where its context says.
    func dispatch(_ object: Cell) {
        object.pointer.retain()
        dispatch(object.pointer, source: object.pointer)
    }

    // MARK: At once

    /// Makes several changes as one: callbacks that run at once run afterwards.
    func asOneChange<Result>(_ body: () -> Result) -> Result {
        contexts.holds += 1
        let result = body()
        contexts.holds -= 1
        return result
    }

    /// Runs the callbacks that are to run at once, in the order in which they came. Callbacks that come meanwhile run
    /// within the callback that brings them, unless they are of the same future.
    func runImmediate() {
        guard contexts.holds == 0, contexts.depth < LocalContext.depthLimit, !contexts.immediate.isEmpty
        else {
            return
        }
        contexts.depth += 1
        if isRunning { emptyImmediate() } else { EventLoop.withCurrent(self, emptyImmediate) }
        contexts.depth -= 1
    }

    private func emptyImmediate() {
        // What callbacks bring about is not put at the end of these: it would run within the first of them.
        var batch = ReadyQueue()
        batch.append(contentsOf: &contexts.immediate)
        while let cell = batch.takeFirst() {
            if isCalling(cell.source!) { postpone(cell) } else { run(cell, on: .immediate) }
            if batch.isEmpty { takePostponed(to: &batch) }
        }
    }

    private func run(_ cell: CellPointer, on context: LocalContext) {
        let source = cell.source!
        source.retain()
        source.interest.insert(.isCalling)
        let outer = contexts.running
        contexts.running = context
        run(cell)
        contexts.running = outer
        source.interest.remove(.isCalling)
        source.release()
    }

    /// Whether a callback of `source` is running.
    private func isCalling(_ source: CellPointer) -> Bool {
        // The one future of all who want a completed one is nobody's own.
        if let completedVoid, source == completedVoid.pointer { return false }
        return source.interest.contains(.isCalling) || source == ready.calling
    }

    /// Lets a callback run after the running callback of the same future. Takes over the reference to it.
    private func postpone(_ cell: CellPointer) {
        if cell.source == ready.calling, !contexts.isCatchingUp {
            contexts.isCatchingUp = true
            let catchUp = SubmitStep<Void> { [unowned self] in
                contexts.isCatchingUp = false
                runPostponed()
            }
            let object = Cell.waiting(self, step: catchUp)
            object.pointer.retain()
            ready.prepend(object.pointer)
        }
        contexts.postponed.append(cell)
    }

    /// Moves callbacks that need not wait any more to `batch`.
    private func takePostponed(to batch: inout ReadyQueue) {
        var left = ReadyQueue()
        while let cell = contexts.postponed.takeFirst() {
            if isCalling(cell.source!) { left.append(cell) } else { batch.append(cell) }
        }
        contexts.postponed = left
    }

    /// Runs the postponed callbacks. A callback that they may have waited for has ended.
    private func runPostponed() {
        contexts.takeUpPostponed()
        runImmediate()
    }

    // MARK: Later

    /// Runs a requested turn. Between two of these the driver polls once.
    package func requestedTurn() {
        turn {
            if !contexts.due.isEmpty {
                // Behind what has been ready before.
                enqueue { [unowned self] in runDue() }
            } else if ready.isEmpty, contexts.isQuiet(after: turns) {
                runIdle()
            }
        }
        contexts.willPoll(after: turns)
    }

    private func runIdle() {
        // The driver may round up.
        if let earliest = timers.earliest, earliest <= clock { return fireTimers() }
        guard let cell = contexts.takeIdle() else { return }
        enqueue { [unowned self] in
            run(cell, on: .whenIdle)
            runPostponed()
        }
    }

    private func runDue() {
        var budget = turnBudget
        while budget > 0, let cell = contexts.due.takeFirst() {
            run(cell, on: .nextTurn)
            runPostponed()
            budget -= 1
        }
    }
}
