/// The timers of a loop, earliest first; equal deadlines in the order in which they were made.
final class TimerHeap {
    private var heap = SlotHeap()
    private var keepingAlive = 0
    /// Whether the driver has to be told of another alarm.
    private(set) var hasChanged = false

    struct Alarm {
        let deadline: UInt64
        let keepsAlive: Bool
    }

    var isEmpty: Bool { count == 0 }
    var count: Int { heap.count }

    /// When the driver should call, and whether any timer keeps the loop alive.
    func takeAlarm() -> Alarm? {
        hasChanged = false
        return heap.first.map { Alarm(deadline: $0.deadline, keepsAlive: keepingAlive > 0) }
    }

    /// The alarm has gone off.
    func alarmFired() { hasChanged = true }

    func insert(_ timer: LoopTimer) {
        if timer.keepsAlive { count(keepingAlive + 1) }
        if heap.insert(timer) { hasChanged = true }
    }

    func remove(_ timer: LoopTimer) {
        guard let slot = timer.slot else { return }
        timer.slot = nil
        if timer.keepsAlive { count(keepingAlive - 1) }
        if heap.remove(slot) { hasChanged = true }
    }

    /// The earliest timer, removed, if its deadline is not after `now`.
    func takeFirst(until now: UInt64) -> LoopTimer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(first)
        return first
    }

    private func count(_ keepingAlive: Int) {
        if (keepingAlive > 0) != (self.keepingAlive > 0) { hasChanged = true }
        self.keepingAlive = keepingAlive
    }
}
