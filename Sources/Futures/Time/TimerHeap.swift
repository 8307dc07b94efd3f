/// The cells of a loop that wait for their deadline, earliest first. Equal deadlines keep the order of insertion.
/// Owns its members.
///
/// When it is due, a cell without a producer runs its step, or succeeds if it has none. Otherwise its producer
/// decides.
final class TimerHeap {
    @exclusivity(unchecked) private var heap = SlotHeap()
    private var keepingAlive = 0
    /// Whether the driver has to be told about another alarm.
    private(set) var hasChanged = false

    struct Alarm {
        let deadline: UInt64
        let keepsAlive: Bool
    }

    var isEmpty: Bool { count == 0 }
    var count: Int { unsafe heap.count }
    var earliest: UInt64? { unsafe heap.first?.deadline }

    /// Returns when the driver should call, and whether any timer keeps the loop alive.
    func takeAlarm() -> Alarm? {
        hasChanged = false
        return earliest.map { Alarm(deadline: $0, keepsAlive: keepingAlive > 0) }
    }

    /// Notes that the alarm has gone off.
    func alarmFired() { hasChanged = true }

    /// Makes a pending cell one of the timers. It may have been one before.
    func insert(_ cell: CellPointer, deadline: UInt64, keepsAlive: Bool) {
        // Most are new.
        if cell.isHeldOnce { cell.retainNew() } else { cell.retain() }
        cell.flags.insert(.isTimed)
        if keepsAlive { count(keepingAlive + 1) }
        if unsafe heap.insert(cell, deadline: deadline, keepsAlive: keepsAlive) { hasChanged = true }
    }

    /// Takes a cell out. The caller has a reference to it too. Does nothing if it has been taken out before.
    func remove(_ cell: CellPointer) {
        guard cell.timerSlot != SlotHeap.noSlot else { return }
        take(cell.timerSlot)
        cell.release()
    }

    /// Removes and returns the earliest timer if its deadline is not after `now`. The caller has to release its
    /// reference.
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
