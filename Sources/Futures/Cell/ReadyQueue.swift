/// The cells whose step is to run, first in, first out: a list through `next` that owns its members.
struct ReadyQueue {
    private var first: Cell?
    private var last: Cell?

    /// The cell whose step runs. The queue's reference to it passes to the first consumer that it completes.
    fileprivate var running: Cell?

    var isEmpty: Bool { first == nil }

    /// Takes over the caller's reference to `cell`, which owns `source` while it is queued.
    @inline(__always)
    mutating func append(_ cell: Cell, source: Cell) {
        if source == running { running = nil } else { source.retain() }
        cell.source = source
        cell.next = nil
        cell.flags.insert(.isQueued)
        if let last = last { last.next = cell } else { first = cell }
        last = cell
    }

    /// The next cell, with its reference, which the caller has to release.
    @inline(__always)
    mutating func takeFirst() -> Cell? {
        guard let cell = first else { return nil }
        first = cell.next
        if first == nil { last = nil }
        cell.next = nil
        return cell
    }
}

extension EventLoop {
    /// Runs the step of the next cell, and releases the queue's reference; `false` if the queue is empty.
    @inline(__always)
    func runNext() -> Bool {
        guard let cell = ready.takeFirst() else { return false }
        let source = cell.takeSource()
        if cell.flags.contains(.hasStep) {
            cell.flags.remove(.hasStep)
            ready.running = cell
            cell.behavior(.run, cell, source)
            if ready.running == nil {
                source.release()
                return true
            }
            ready.running = nil
        }
        source.release()
        cell.release()
        return true
    }

    /// Fails the next cell instead of running it.
    func failNext(_ error: any Error) -> Bool {
        guard let cell = ready.takeFirst() else { return false }
        let source = cell.takeSource()
        cell.fail(error)
        source.release()
        cell.release()
        return true
    }
}

extension Cell {
    /// The source of a cell that leaves the queue, with the reference that the cell had to it.
    @inline(__always)
    fileprivate func takeSource() -> Cell {
        flags.remove(.isQueued)
        defer { source = nil }
        return source!
    }
}
