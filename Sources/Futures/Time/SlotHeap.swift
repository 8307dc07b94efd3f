/// A heap of cells by deadline, with four children each. Moving them about touches no cell.
///
/// Each cell knows its slot, and each slot its place in the heap, so that removing any of them takes O(log n).
@safe
struct SlotHeap: ~Copyable {
    struct Entry {
        let deadline: UInt64
        fileprivate let order: UInt64
        let cell: CellPointer
        fileprivate let slot: UInt32
        let keepsAlive: Bool

        /// Both numbers as one, to compare them without a branch.
        private var key: UInt128 { UInt128(deadline) << 64 | UInt128(order) }

        @inline(__always)
        fileprivate func isBefore(_ other: Entry) -> Bool { key < other.key }
    }

    /// The slot of a cell that is not in the heap.
    static var noSlot: UInt32 { .max }

    /// The room that is kept when no entries are left.
    private static let keptRoom = 4096

    private(set) var count = 0
    private var room = 0
    private var entries = UnsafeMutablePointer<Entry>.allocate(capacity: 0)
    /// By slot: the place of its entry, or the next free slot if the slot is free.
    private var places = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)
    /// How many slots have been in use since the heap was empty.
    private var slots = 0
    private var firstFree = SlotHeap.noSlot
    private var inserted: UInt64 = 0

    deinit {
        unsafe entries.deallocate()
        unsafe places.deallocate()
    }

    var first: Entry? { count > 0 ? unsafe entries[0] : nil }

    /// Inserts the cell. Returns whether it is the first now.
    @inline(__always)
    mutating func insert(_ cell: CellPointer, deadline: UInt64, keepsAlive: Bool) -> Bool {
        let slot = takeSlot()
        let entry = Entry(deadline: deadline, order: inserted, cell: cell, slot: slot, keepsAlive: keepsAlive)
        cell.timerSlot = slot
        inserted += 1
        count += 1
        siftUp(entry, from: count - 1)
        return unsafe places[Int(slot)] == 0
    }

    /// Takes out the entry in a slot. Returns it, and whether it was the first.
    @inline(__always)
    mutating func remove(_ slot: UInt32) -> (entry: Entry, wasFirst: Bool) {
        let place = unsafe Int(places[Int(slot)])
        let removed = unsafe entries[place]
        removed.cell.timerSlot = SlotHeap.noSlot
        unsafe places[Int(slot)] = firstFree
        firstFree = slot
        count -= 1
        if count == 0 {
            slots = 0
            firstFree = SlotHeap.noSlot
            if room > SlotHeap.keptRoom { makeRoom(0) }
        } else if place != count {
            // The last one most often belongs at the bottom, wherever the gap is.
            unsafe siftUp(entries[count], from: sink(place))
        }
        return (removed, place == 0)
    }

    @inline(__always)
    private mutating func takeSlot() -> UInt32 {
        let slot = firstFree
        if slot != SlotHeap.noSlot {
            firstFree = unsafe places[Int(slot)]
            return slot
        }
        if slots == room { makeRoom(max(16, 2 * room)) }
        slots += 1
        return UInt32(slots - 1)
    }

    @inline(never)
    private mutating func makeRoom(_ room: Int) {
        unsafe entries = SlotHeap.moved(entries, count, room)
        unsafe places = SlotHeap.moved(places, slots, room)
        self.room = room
    }

    private static func moved<Element>(
        _ elements: UnsafeMutablePointer<Element>, _ count: Int, _ room: Int
    ) -> UnsafeMutablePointer<Element> {
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: room)
        unsafe moved.moveInitialize(from: elements, count: count)
        unsafe elements.deallocate()
        return unsafe moved
    }

    @inline(__always)
    private func siftUp(_ entry: Entry, from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) >> 2
            guard unsafe entry.isBefore(entries[parent]) else { break }
            unsafe put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    /// Fills a free place with the earliest of its children, the child's place with the earliest of its own, and so
    /// on.
    /// Returns the place that is free in the end.
    @inline(never)
    private func sink(_ start: Int) -> Int {
        var place = start
        var child = 4 &* place &+ 1
        while child &+ 3 < count {
            let earliest = earlier(earlier(child, child &+ 1), earlier(child &+ 2, child &+ 3))
            unsafe put(entries[earliest], at: place)
            place = earliest
            child = 4 &* place &+ 1
        }
        guard child < count else { return place }
        // What is left are children without children.
        var earliest = child
        for other in child + 1..<count { earliest = earlier(earliest, other) }
        unsafe put(entries[earliest], at: place)
        return earliest
    }

    @inline(__always)
    private func earlier(_ place: Int, _ other: Int) -> Int {
        unsafe entries[other].isBefore(entries[place]) ? other : place
    }

    @inline(__always)
    private func put(_ entry: Entry, at place: Int) {
        unsafe (entries + place).initialize(to: entry)
        unsafe places[Int(entry.slot)] = UInt32(truncatingIfNeeded: place)
    }
}
