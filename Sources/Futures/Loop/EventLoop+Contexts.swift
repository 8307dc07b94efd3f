extension EventLoop {
    /// The context in which a callback runs if you register it without naming a context, or with
    /// ``LocalContext/default``. In a new loop, this property is ``LocalContext/loop``.
    ///
    /// If this property is ``LocalContext/current``, each callback runs in the context of the callback that
    /// registered it. To reset this property, set it to ``LocalContext/default``. Callbacks that were
    /// registered before a change keep their context.
    public var defaultContext: LocalContext {
        get { core.contexts.standard }
        set {
            core.checkThread()
            core.contexts.standard = newValue == .default ? .loop : newValue
        }
    }

    /// The context of the running callback, or ``LocalContext/loop`` if no callback is running.
    public var currentContext: LocalContext {
        core.checkThread()
        return core.contexts.running
    }
}

extension LoopCore {
    /// Queues `cell`, a consumer of the completed `source`, in the queue of its context. Takes over the
    /// reference to `cell`.
    func dispatch(_ cell: CellPointer, source: CellPointer) {
        // A loop that has been shut down serves only its ready queue.
        switch isShutDown ? .loop : cell.interest.context {
        case .immediate where propagation.addImmediate(cell, source: source): break
        case .nextTurn:
            contexts.coming.append(cell, source: source)
            requestTurn()
        case .whenIdle:
            contexts.appendForIdleness(cell, source: source)
            requestTurn()
        default:
            enqueue(cell, source: source)
        }
    }

    /// Queues a cell without a source in the queue of its context.
    func dispatch(_ object: Cell) {
        object.pointer.retain()
        dispatch(object.pointer, source: object.pointer)
    }

    /// Runs a turn that was requested. The driver polls once between two such turns.
    package func requestedTurn() {
        turn {
            if !contexts.due.isEmpty {
                // The callbacks run after those that were ready before.
                enqueue { [unowned self] in runDue() }
            } else if ready.isEmpty, contexts.isQuiet(after: turnState.count) {
                runIdle()
            }
        }
        contexts.willPoll(after: turnState.count)
    }

    private func runIdle() {
        // A timer may be overdue, because the driver may round its time up.
        if let earliest = timers.earliest, earliest <= clock { return fireTimers() }
        let cell = contexts.whenIdle.takeFirst()!
        enqueue { [unowned self] in
            propagation.run(cell, on: .whenIdle)
            propagation.runPostponed()
        }
    }

    private func runDue() {
        var budget = turnState.budget
        // One runs in each turn, whatever ran before it.
        repeat {
            guard let cell = contexts.due.takeFirst() else { return }
            propagation.run(cell, on: .nextTurn)
            propagation.runPostponed()
            budget -= 1
        } while budget > 0 && !spendsTurn()
    }
}
