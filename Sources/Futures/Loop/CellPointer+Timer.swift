extension LoopCore {
    /// Makes a pending cell one of the loop's timers.
    @inline(__always)
    func startTimer(_ object: Cell, deadline: UInt64, keepsAlive: Bool) {
        timers.insert(object.pointer, deadline: deadline, keepsAlive: keepsAlive)
        requestTurn()
    }

    /// Fires all timers that are due now. Timers that their callbacks start fire in a later call, even if
    /// they are due at once.
    func fireTimers() {
        let now = clock
        if let earliest = timers.earliest, earliest <= now { work.timersFired(late: now - earliest) }
        var due: [CellPointer] = []
        while let cell = timers.takeFirst(until: now) { due.append(cell) }
        for cell in due { fire(cell) }
    }

    /// Fires a timer that was due. The timer may have completed since then. Takes over the reference to the
    /// cell.
    private func fire(_ cell: CellPointer) {
        if cell.state == .pending {
            if let producer = cell.producer {
                producer.timeIsUp(for: cell.object)
            } else if cell.flags.contains(.hasStep) {
                dispatch(cell, source: cell)
                return propagation.finishChange()
            } else {
                cell.succeed(())
            }
        }
        cell.release()
    }

    /// Fails the futures of all timers.
    func failTimers(_ error: any Error) {
        while let cell = timers.takeFirst(until: .max) {
            cell.fail(error)
            cell.release()
        }
        coarse = [:]
    }
}

extension CellPointer {
    /// Removes a cell that completes from the list of promises or from the timers.
    @inline(__always)
    func leavePending() {
        if flags.contains(.isListed) { withLoop { $0.promises.remove(self) } }
        if flags.contains(.isTimed) { withLoop { $0.timers.remove(self) } }
    }
}
