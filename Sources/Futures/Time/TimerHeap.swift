/// The timers of a loop, earliest first; equal deadlines in the order in which they were made.
///
/// A binary heap in an array. Each timer knows its index, so that removing any of them takes O(log n).
final class TimerHeap {
    private var entries: [LoopTimer] = []
    private var made: UInt64 = 0
    private var keepingAlive = 0
    /// Whether the driver has to be told of another alarm.
    private(set) var hasChanged = false

    struct Alarm {
        let deadline: UInt64
        let keepsAlive: Bool
    }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// When the driver should call, and whether any timer keeps the loop alive.
    func takeAlarm() -> Alarm? {
        hasChanged = false
        return entries.first.map { Alarm(deadline: $0.deadline, keepsAlive: keepingAlive > 0) }
    }

    /// The alarm has gone off.
    func alarmFired() { hasChanged = true }

    func insert(_ timer: LoopTimer) {
        timer.order = made
        made += 1
        if timer.keepsAlive { count(keepingAlive + 1) }
        entries.append(timer)
        siftUp(timer, from: entries.count - 1)
    }

    func remove(_ timer: LoopTimer) {
        let index = timer.index
        guard index >= 0 else { return }
        timer.index = -1
        if timer.keepsAlive { count(keepingAlive - 1) }
        if index == 0 { hasChanged = true }
        let moved = entries.removeLast()
        guard moved !== timer else { return }
        siftUp(moved, from: index)
        siftDown(moved, from: moved.index)
    }

    /// The earliest timer, removed, if its deadline is not after `now`.
    func takeFirst(until now: UInt64) -> LoopTimer? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first)
        return first
    }

    private func count(_ keepingAlive: Int) {
        if (keepingAlive > 0) != (self.keepingAlive > 0) { hasChanged = true }
        self.keepingAlive = keepingAlive
    }

    private func siftUp(_ timer: LoopTimer, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard timer.isBefore(entries[parent]) else { break }
            place(entries[parent], at: index)
            index = parent
        }
        place(timer, at: index)
    }

    private func siftDown(_ timer: LoopTimer, from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(timer) else { break }
            place(entries[child], at: index)
            index = child
        }
        place(timer, at: index)
    }

    private func place(_ timer: LoopTimer, at index: Int) {
        entries[index] = timer
        timer.index = index
        if index == 0 { hasChanged = true }
    }
}
