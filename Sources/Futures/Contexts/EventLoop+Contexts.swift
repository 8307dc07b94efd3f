extension EventLoop {
    /// The context of callbacks that are registered without `on:`. It is ``LocalContext/loop`` unless set.
    ///
    /// If this property is ``LocalContext/current``, each callback runs in the context of the callback that
    /// registered it. To reset this property, set it to ``LocalContext/default``. Callbacks that were registered
    /// before a change keep their context.
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
        case .immediate where propagation.addImmediate(cell, source: source): break
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

    /// Runs a requested turn. Between two of these the driver polls once.
    package func requestedTurn() {
        turn {
            if !contexts.due.isEmpty {
                // Behind what has been ready before.
                enqueue { [unowned self] in runDue() }
            } else if ready.isEmpty, contexts.isQuiet(after: turnState.count) {
                runIdle()
            }
        }
        contexts.willPoll(after: turnState.count)
    }

    private func runIdle() {
        // The driver may round up.
        if let earliest = timers.earliest, earliest <= clock { return fireTimers() }
        guard let cell = contexts.takeIdle() else { return }
        enqueue { [unowned self] in
            propagation.run(cell, on: .whenIdle)
            propagation.runPostponed()
        }
    }

    private func runDue() {
        var budget = turnState.budget
        while budget > 0, let cell = contexts.due.takeFirst() {
            propagation.run(cell, on: .nextTurn)
            propagation.runPostponed()
            budget -= 1
        }
    }
}
