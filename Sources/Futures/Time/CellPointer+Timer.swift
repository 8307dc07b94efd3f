extension LoopCore {
    /// Makes a pending cell one of the loop's timers.
    @inline(__always)
    func startTimer(_ object: Cell, deadline: UInt64, keepsAlive: Bool) {
        timers.insert(object.pointer, deadline: deadline, keepsAlive: keepsAlive)
        requestTurn()
    }

    /// Fires all timers that are due now. What they start is not due before the next time.
    func fireTimers() {
        let now = clock
        if let earliest = timers.earliest, earliest <= now { work.timersFired(late: now - earliest) }
        var due: [CellPointer] = []
        while let cell = timers.takeFirst(until: now) { due.append(cell) }
        for cell in due { fire(cell) }
    }

    /// Fires a cell that was due, and that may have completed meanwhile. Takes over the reference to it.
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
        coarse.removeAll()
    }
}

extension CellPointer {
    /// Takes a cell that completes out of the list or the heap of pending cells.
    @inline(__always)
    func leavePending() {
        if flags.contains(.isListed) { withLoop { $0.promises.remove(self) } }
        if flags.contains(.isTimed) { withLoop { $0.timers.remove(self) } }
    }
}
