/// The slots of entries that end, the earliest first.
///
/// A slot is listed once, at the earliest time that was given for it. Who takes it from there looks whether the entry has
/// ended, and adds it again if not. So an entry that is given more time again and again costs nothing.
struct ExpiryHeap {
    private struct Listed {
        var time: Int64
        var slot: Int32
    }

    /// A binary heap: nothing is earlier than what stands at half of its index.
    private var heap: [Listed] = []
    /// The index of each slot in the heap, or -1.
    private var places: [Int32] = []

    mutating func add(_ slot: Int, at time: Int64) {
        if slot >= places.count {
            places.append(contentsOf: repeatElement(-1, count: slot + 1 - places.count))
        }
        var place = Int(places[slot])
        if place < 0 {
            place = heap.count
            heap.append(Listed(time: time, slot: Int32(slot)))
            places[slot] = Int32(place)
        } else if time >= heap[place].time {
            return
        }
        heap[place].time = time
        rise(from: place)
    }

    var memory: Int {
        heap.capacity * MemoryLayout<Listed>.stride + places.capacity * MemoryLayout<Int32>.stride
    }

    /// Removes a slot. What was listed as `last` has its number then.
    mutating func remove(_ slot: Int, movingHere last: Int) {
        if slot < places.count, places[slot] >= 0 { drop(Int(places[slot])) }
        guard last == places.count - 1 else { return }
        let place = places.removeLast()
        places.giveBack()
        guard slot < last else { return }
        places[slot] = place
        if place >= 0 { heap[Int(place)].slot = Int32(slot) }
    }

    /// Takes a slot of which the time has come. Returns `nil` if there is none.
    mutating func next(upTo time: Int64) -> Int? {
        guard let first = heap.first, first.time <= time else { return nil }
        drop(0)
        return Int(first.slot)
    }

    private mutating func drop(_ place: Int) {
        places[Int(heap[place].slot)] = -1
        let last = heap.removeLast()
        heap.giveBack()
        guard place < heap.count else { return }
        put(last, at: place)
        sink(from: place)
        rise(from: Int(places[Int(last.slot)]))
    }

    private mutating func rise(from start: Int) {
        let moved = heap[start]
        var place = start
        while place > 0, case let parent = (place - 1) / 2, heap[parent].time > moved.time {
            put(heap[parent], at: place)
            place = parent
        }
        put(moved, at: place)
    }

    private mutating func sink(from start: Int) {
        let moved = heap[start]
        var place = start
        while case var child = 2 * place + 1, child < heap.count {
            if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
            guard heap[child].time < moved.time else { break }
            put(heap[child], at: place)
            place = child
        }
        put(moved, at: place)
    }

    private mutating func put(_ listed: Listed, at place: Int) {
        heap[place] = listed
        places[Int(listed.slot)] = Int32(place)
    }
}
