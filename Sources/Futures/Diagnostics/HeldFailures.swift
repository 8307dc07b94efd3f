internal import Glibc

/// The futures that failed while somebody held them, and nothing observed them. A future that is released before the end is
/// reported then. The others, such as those in global variables, are reported when the loop or the process ends.
struct HeldFailures {
    private var entries: [Weak<Cell>] = []
    /// The number of entries at which the entries of released futures are removed.
    private var limit = 64

    /// Adds a cell that fails now.
    mutating func add(_ cell: Cell) {
        if entries.count == limit {
            entries.removeAll { $0.object == nil }
            limit = max(64, 2 * entries.count)
        }
        entries.append(Weak(cell))
    }

    /// The cells whose failure is still not observed. Their entries stay: the address sanitizer calls the memory behind a
    /// weak reference leaked when the reference goes before its object.
    var unobserved: [Cell] {
        entries.compactMap(\.object).filter { !$0.pointer.flags.contains(.isObserved) }
    }
}

extension LoopCore {
    /// Adds a cell that fails now, and that nothing observes.
    func noteUnobserved(_ cell: Cell) {
        if !unhandled.isWatchedAtExit {
            unhandled.isWatchedAtExit = true
            LoopsAtExit.add(self)
        }
        unhandled.held.add(cell)
    }

    /// Reports the failures that nothing observes, although their futures are held, at the end of the loop or the process.
    func reportHeldFailures() {
        for cell in unhandled.held.unobserved {
            let failure = cell.pointer.readPayload(as: CellPointer.Failure.self)
            cell.pointer.reportUnhandled(failure.error, of: failure.subject)
            cell.markObserved()
        }
        reportUnhandledFailures()
    }
}

/// The loops whose held failures the exit of the process reports.
private enum LoopsAtExit {
    /// The loops of the process with this number. A child that a `fork` has made leaves the report to its parent.
    private static let all = Locked<(process: pid_t, loops: [Weak<LoopCore>])>((0, []))

    static func add(_ loop: LoopCore) {
        all.withLock { all in
            if all.process != getpid() {
                all = (getpid(), [])
                atexit { LoopsAtExit.report() }
            }
            all.loops.removeAll { $0.object == nil }
            all.loops.append(Weak(loop))
        }
    }

    /// Leaves out the loops of other threads, which may run.
    private static func report() {
        let loops = all.withLock { all in all.process == getpid() ? all.loops.compactMap(\.object) : [] }
        for loop in loops where loop.isOnItsThread && !loop.isShutDown {
            loop.reportHeldFailures()
            loop.printOmitted()
        }
    }
}
