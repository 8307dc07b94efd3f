/// The timers of a loop: cells that wait for a deadline, the earliest first. Cells with equal deadlines keep
/// the order of insertion. The heap owns a reference to each cell.
///
/// When a cell without a producer is due, its step runs, or the cell succeeds if it has no step. When a cell
/// with a producer is due, the producer decides.
final class TimerHeap {
    @exclusivity(unchecked) private var heap = SlotHeap()
    private var keepingAlive = 0
    /// Whether the driver has to learn of a new alarm.
    private(set) var hasChanged = false

    var isEmpty: Bool { count == 0 }
    var count: Int { unsafe heap.count }
    var earliest: UInt64? { unsafe heap.first?.deadline }
    /// The `count` timers that are due next and meet `condition`, in order. Takes time in proportion to the number of all
    /// timers.
    func earliest(
        _ count: Int, where condition: (CellPointer) -> Bool
    ) -> [(cell: CellPointer, deadline: UInt64)] {
        let chosen = unsafe heap.all.filter { condition($0.cell) }.sorted { $0.deadline < $1.deadline }
        return chosen.prefix(count).map { ($0.cell, $0.deadline) }
    }

    /// The time at which `cell` is due. `nil` if it is no timer.
    func deadline(of cell: CellPointer) -> UInt64? {
        cell.timerSlot == SlotHeap.noSlot ? nil : unsafe heap.deadline(at: cell.timerSlot)
    }

    /// Whether any timer keeps the loop alive.
    var keepsLoopAlive: Bool { keepingAlive > 0 }

    /// Returns the deadline that the driver needs, or `nil` if there are no timers.
    func takeAlarm() -> UInt64? {
        hasChanged = false
        return earliest
    }

    /// Notes that the driver's alarm has gone off, so that the driver needs the next one.
    func alarmFired() { hasChanged = true }

    /// Adds a pending cell to the timers. The cell may have been a timer before.
    func insert(_ cell: CellPointer, deadline: UInt64, keepsAlive: Bool) {
        // Most cells are new and have one reference.
        if cell.isHeldOnce { cell.retainNew() } else { cell.retain() }
        cell.flags.insert(.isTimed)
        if keepsAlive { count(keepingAlive + 1) }
        if unsafe heap.insert(cell, deadline: deadline, keepsAlive: keepsAlive) { hasChanged = true }
    }

    /// Removes `cell`. The caller holds a reference of its own. Does nothing if `cell` has been removed
    /// before.
    func remove(_ cell: CellPointer) {
        guard cell.timerSlot != SlotHeap.noSlot else { return }
        take(cell.timerSlot)
        cell.release()
    }

    /// Removes and returns the earliest timer, if its deadline is not after `now`. Otherwise returns `nil`.
    /// The caller has to release the cell.
    func takeFirst(until now: UInt64) -> CellPointer? {
        guard let first = unsafe heap.first, first.deadline <= now else { return nil }
        take(first.cell.timerSlot)
        return first.cell
    }

    @inline(__always)
    private func take(_ slot: UInt32) {
        let (entry, wasFirst) = unsafe heap.remove(slot)
        if entry.keepsAlive { count(keepingAlive - 1) }
        if wasFirst { hasChanged = true }
    }

    @inline(__always)
    private func count(_ keepingAlive: Int) {
        if (keepingAlive > 0) != (self.keepingAlive > 0) { hasChanged = true }
        self.keepingAlive = keepingAlive
    }
}
