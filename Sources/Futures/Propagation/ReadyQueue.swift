/// The cells with a step to run, first in, first out: a list through `next` that owns its members.
struct ReadyQueue {
    private var first: CellPointer?
    private var last: CellPointer?

    /// The cell that runs its step. The queue's reference to it passes to the first consumer that it completes.
    fileprivate(set) var running: CellPointer?
    /// The cell with the outcome that this step gets.
    fileprivate(set) var calling: CellPointer?

    var isEmpty: Bool { first == nil }

    /// The number of cells. Walks the queue: counting what comes and goes would cost each callback something.
    var count: Int {
        var (count, cell) = (0, first)
        while let current = cell {
            count += 1
            cell = current.next
        }
        return count
    }

    /// Appends `cell`, which owns `source` while it is queued. Takes over the caller's reference to `cell`.
    @inline(__always)
    mutating func append(_ cell: CellPointer, source: CellPointer) {
        if source == running { running = nil } else { source.retain() }
        cell.source = source
        cell.next = nil
        cell.flags.insert(.isQueued)
        if let last = last { last.next = cell } else { first = cell }
        last = cell
    }

    /// Puts a cell that has no source in front of all others. Takes over the caller's reference to it.
    mutating func prepend(_ cell: CellPointer) {
        cell.retain()
        cell.source = cell
        cell.next = first
        cell.flags.insert(.isQueued)
        first = cell
        if last == nil { last = cell }
    }

    /// Appends a cell that has been taken from another queue, and takes over the reference to it.
    mutating func append(_ cell: CellPointer) {
        if last == nil { first = cell }
        last?.next = cell
        last = cell
    }

    /// Moves all of `other` to the end of this queue.
    mutating func append(contentsOf other: inout ReadyQueue) {
        guard let otherFirst = other.first else { return }
        if let last = last { last.next = otherFirst } else { first = otherFirst }
        last = other.last
        other.first = nil
        other.last = nil
    }

    /// Takes out the next cell. The caller has to release its reference.
    @inline(__always)
    mutating func takeFirst() -> CellPointer? {
        guard let cell = first else { return nil }
        first = cell.next
        if first == nil { last = nil }
        cell.next = nil
        return cell
    }
}

extension LoopCore {
    /// Runs the step of the next cell, and releases the queue's reference. Returns `false` if the queue is empty.
    @inline(__always)
    func runNext() -> Bool {
        guard let cell = ready.takeFirst() else { return false }
        let flags = cell.flags
        let source = cell.takeSource(andFlags: [.isQueued, .hasStep])
        if flags.contains(.hasStep) {
            ready.running = cell
            // Who has no source is its own, and none of its callbacks runs.
            ready.calling = source == cell ? nil : source
            cell.behavior(.run, cell, source)
            ready.calling = nil
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

    /// Runs the step of a cell that has been taken from another queue, and releases that queue's reference.
    func run(_ cell: CellPointer) {
        let flags = cell.flags
        let source = cell.takeSource(andFlags: [.isQueued, .hasStep])
        if flags.contains(.hasStep) {
            cell.behavior(.run, cell, source)
        }
        source.release()
        cell.release()
    }

    /// Fails the next cell instead of running it.
    func failNext(_ error: any Error) -> Bool {
        guard let cell = ready.takeFirst() else { return false }
        let source = cell.takeSource(andFlags: .isQueued)
        cell.fail(error)
        source.release()
        cell.release()
        return true
    }
}

extension CellPointer {
    /// Takes the source of a cell that leaves the queue, with the cell's reference to it.
    @inline(__always)
    fileprivate func takeSource(andFlags taken: Flags) -> CellPointer {
        flags.subtract(taken)
        defer { source = nil }
        return source!
    }
}
