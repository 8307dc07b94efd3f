/// A heap of cells, ordered by deadline. Each entry has four children. Moving entries reads and writes no
/// cell.
///
/// Each cell knows its slot, and each slot knows the place of its entry in the heap. So the removal of any
/// cell takes O(log n).
@safe
struct SlotHeap: ~Copyable {
    struct Entry {
        let deadline: UInt64
        fileprivate let order: UInt64
        let cell: CellPointer
        fileprivate let slot: UInt32
        let keepsAlive: Bool

        /// Deadline and order as one number, which is compared without a branch.
        private var key: UInt128 { UInt128(deadline) << 64 | UInt128(order) }

        @inline(__always)
        fileprivate func isBefore(_ other: Entry) -> Bool { key < other.key }
    }

    /// The slot number of a cell that is not in the heap.
    static var noSlot: UInt32 { .max }

    /// The largest capacity, in entries, that an empty heap keeps.
    private static let keptRoom = 4096

    private(set) var count = 0
    private var room = 0
    private var entries = UnsafeMutablePointer<Entry>.allocate(capacity: 0)
    /// For each slot: the place of its entry, or the next free slot if the slot is free.
    private var places = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)
    /// The number of slots that have been used since the heap was last empty.
    private var slots = 0
    private var firstFree = SlotHeap.noSlot
    private var inserted: UInt64 = 0

    deinit {
        unsafe entries.deallocate()
        unsafe places.deallocate()
    }

    /// The entries, in no order.
    var all: [Entry] { unsafe Array(UnsafeBufferPointer(start: entries, count: count)) }

    func deadline(at slot: UInt32) -> UInt64 { unsafe entries[Int(places[Int(slot)])].deadline }

    var first: Entry? { count > 0 ? unsafe entries[0] : nil }

    /// Inserts `cell`. Returns whether `cell` is the first one now.
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

    /// Removes the entry of `slot`. Returns the entry, and whether it was the first one.
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
            // The last entry usually belongs near the bottom of the heap, wherever the free place is.
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

    /// Fills the free place with the earliest of its children, then the place of that child with the earliest
    /// of the child's children, and so on. Returns the place that is free in the end.
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
        // The remaining children have no children.
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
