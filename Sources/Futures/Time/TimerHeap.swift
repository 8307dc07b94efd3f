/// The cells of a loop that wait for their deadline, earliest first; equal deadlines in the order in which they were
/// inserted. Owns its members.
///
/// A cell without a producer runs its step when it is due, or, without a step, succeeds; else its producer decides.
final class TimerHeap {
    @exclusivity(unchecked) private var heap = SlotHeap()
    private var keepingAlive = 0
    /// Whether the driver has to be told of another alarm.
    private(set) var hasChanged = false

    struct Alarm {
        let deadline: UInt64
        let keepsAlive: Bool
    }

    var isEmpty: Bool { count == 0 }
    var count: Int { unsafe heap.count }
    var earliest: UInt64? { unsafe heap.first?.deadline }

    /// When the driver should call, and whether any timer keeps the loop alive.
    func takeAlarm() -> Alarm? {
        hasChanged = false
        return earliest.map { Alarm(deadline: $0, keepsAlive: keepingAlive > 0) }
    }

    /// The alarm has gone off.
    func alarmFired() { hasChanged = true }

    /// Makes a pending cell one of the timers. It may have been one before.
    func insert(_ cell: CellPointer, deadline: UInt64, keepsAlive: Bool) {
        // Most are new.
        if cell.isHeldOnce { cell.retainNew() } else { cell.retain() }
        cell.flags.insert(.isTimed)
        if keepsAlive { count(keepingAlive + 1) }
        if unsafe heap.insert(cell, deadline: deadline, keepsAlive: keepsAlive) { hasChanged = true }
    }

    /// Takes a cell out, of which the caller has a reference too. Does nothing if it has been taken out before.
    func remove(_ cell: CellPointer) {
        guard cell.timerSlot != SlotHeap.noSlot else { return }
        take(cell.timerSlot)
        cell.release()
    }

    /// The earliest timer, removed, if its deadline is not after `now`: with its reference, which the caller has to
    /// release.
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
