/// A heap of timers, with four children each, in an array of numbers: to move them about touches no timer, and counts no
/// reference.
///
/// Each timer knows its slot, and each slot its place in the heap, so that removing any of them takes O(log n).
struct SlotHeap {
    private struct Entry {
        let deadline: UInt64
        let order: UInt64
        let slot: Int

        func isBefore(_ other: Entry) -> Bool {
            deadline < other.deadline || (deadline == other.deadline && order < other.order)
        }
    }

    /// Room for so many is kept when none are left.
    private static let keptRoom = 4096

    private var entries: [Entry] = []
    /// By slot. A slot that is free has no timer.
    private var timers: [LoopTimer?] = []
    private var places: [Int] = []
    private var freeSlots: [Int] = []
    private var inserted: UInt64 = 0

    var count: Int { entries.count }

    var first: LoopTimer? { entries.first.flatMap { timers[$0.slot] } }

    /// Returns whether the timer is the first now.
    mutating func insert(_ timer: LoopTimer) -> Bool {
        let entry = Entry(deadline: timer.deadline, order: inserted, slot: takeSlot(timer))
        inserted += 1
        timer.slot = entry.slot
        entries.append(entry)
        siftUp(entry, from: entries.count - 1)
        return places[entry.slot] == 0
    }

    /// Returns whether its timer was the first. Whoever calls keeps that until this is over, since what its release
    /// brings about may come back here.
    mutating func remove(_ slot: Int) -> Bool {
        timers[slot] = nil
        freeSlots.append(slot)
        let place = places[slot]
        let moved = entries.removeLast()
        if moved.slot != slot {
            siftUp(moved, from: place)
            siftDown(moved, from: places[moved.slot])
        }
        if entries.isEmpty, timers.count > Self.keptRoom { letGoOfRoom() }
        return place == 0
    }

    private mutating func letGoOfRoom() {
        let inserted = inserted
        self = SlotHeap()
        self.inserted = inserted
    }

    private mutating func takeSlot(_ timer: LoopTimer) -> Int {
        if let slot = freeSlots.popLast() {
            timers[slot] = timer
            return slot
        }
        timers.append(timer)
        places.append(0)
        return timers.count - 1
    }

    private mutating func siftUp(_ entry: Entry, from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 4
            guard entry.isBefore(entries[parent]) else { break }
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    private mutating func siftDown(_ entry: Entry, from start: Int) {
        var place = start
        while true {
            var earliest = 4 * place + 1
            guard earliest < entries.count else { break }
            for child in earliest + 1..<max(earliest + 1, min(earliest + 4, entries.count)) {
                if entries[child].isBefore(entries[earliest]) { earliest = child }
            }
            guard entries[earliest].isBefore(entry) else { break }
            put(entries[earliest], at: place)
            place = earliest
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        places[entry.slot] = place
    }
}
