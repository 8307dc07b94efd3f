/// A queue of cells with a step to run, first in, first out. The cells are linked by `next`, and the queue
/// owns a reference to each.
struct ReadyQueue {
    private var first: CellPointer?
    private var last: CellPointer?

    /// The cell whose step runs now. The first consumer that this cell completes takes over the queue's
    /// reference to this cell. The property is then `nil`.
    fileprivate(set) var running: CellPointer?
    /// The source whose outcome the running step gets, or `nil` if the step has no source.
    fileprivate(set) var calling: CellPointer?

    var isEmpty: Bool { first == nil }

    /// The cell whose step runs next.
    var next: CellPointer? { first }

    /// The number of cells. Walks the queue, because a counter would cost time for each callback.
    var count: Int { first?.listCount ?? 0 }

    /// Appends `cell`. While `cell` is queued, it owns a reference to `source`. Takes over the caller's
    /// reference to `cell`.
    @inline(__always)
    mutating func append(_ cell: CellPointer, source: CellPointer) {
        if source == running { running = nil } else { source.retain() }
        cell.source = source
        cell.next = nil
        cell.flags.insert(.isQueued)
        if let last = last { last.next = cell } else { first = cell }
        last = cell
    }

    /// Inserts a cell without a source in front of all others. Takes over the caller's reference to `cell`.
    mutating func prepend(_ cell: CellPointer) {
        cell.retain()
        cell.source = cell
        cell.next = first
        cell.flags.insert(.isQueued)
        first = cell
        if last == nil { last = cell }
    }

    /// Appends a cell that was taken from another queue. Takes over that queue's reference to `cell`.
    mutating func append(_ cell: CellPointer) {
        if last == nil { first = cell }
        last?.next = cell
        last = cell
    }

    /// Moves all cells of `other` to the end of this queue.
    mutating func append(contentsOf other: inout ReadyQueue) {
        guard let otherFirst = other.first else { return }
        if let last = last { last.next = otherFirst } else { first = otherFirst }
        last = other.last
        other.first = nil
        other.last = nil
    }

    /// Removes and returns the first cell. The caller takes over the queue's reference. Returns `nil` if the
    /// queue is empty.
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
    /// Runs the step of the first cell, and releases the queue's reference. Returns `false` if the queue is
    /// empty.
    @inline(__always)
    func runNext() -> Bool {
        guard let cell = ready.takeFirst() else { return false }
        let flags = cell.flags
        let source = cell.takeSource(andFlags: [.isQueued, .hasStep])
        if flags.contains(.hasStep) {
            ready.running = cell
            // A cell that was queued without a source has itself as its source, and runs no callback of
            // itself.
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

    /// Runs the step of a cell that was taken from a queue other than the ready queue. Releases that queue's
    /// reference.
    func run(_ cell: CellPointer) {
        let flags = cell.flags
        let source = cell.takeSource(andFlags: [.isQueued, .hasStep])
        if flags.contains(.hasStep) {
            cell.behavior(.run, cell, source)
        }
        source.release()
        cell.release()
    }

    /// Fails the first cell with `error` instead of running its step. Returns `false` if the queue is empty.
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
    /// Removes the flags `taken` and the source from a cell that leaves the queue, and returns the source.
    /// The caller takes over the cell's reference to the source.
    @inline(__always)
    fileprivate func takeSource(andFlags taken: Flags) -> CellPointer {
        flags.subtract(taken)
        defer { source = nil }
        return source!
    }
}
