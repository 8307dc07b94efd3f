/// Something that happens at a time of a simulation.
protocol SimulatedEvent: AnyObject {
    func happen()
}

/// The pending events, in the order of their times.
struct EventQueue {
    private struct Entry {
        let time: UInt64
        /// The order among events with the same time.
        let order: UInt64
        let event: any SimulatedEvent

        func comesBefore(_ other: Entry) -> Bool { (time, order) < (other.time, other.order) }
    }

    /// A binary heap: the entry at index `i` comes before the entries at `2i + 1` and `2i + 2`.
    private var entries: [Entry] = []

    var nextTime: UInt64? { entries.first?.time }

    mutating func add(_ event: any SimulatedEvent, at time: UInt64, order: UInt64) {
        let entry = Entry(time: time, order: order, event: event)
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.comesBefore(entries[parent]) else { break }
            entries[index] = entries[parent]
            index = parent
        }
        entries[index] = entry
    }

    /// Removes and returns the first event. The queue must not be empty.
    mutating func takeFirst() -> any SimulatedEvent {
        let first = entries[0].event
        let last = entries.removeLast()
        if !entries.isEmpty { sink(last) }
        return first
    }

    /// Moves `entry` down from the root to its place in the heap.
    private mutating func sink(_ entry: Entry) {
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].comesBefore(entries[child]) { child += 1 }
            guard entries[child].comesBefore(entry) else { break }
            entries[index] = entries[child]
            index = child
        }
        entries[index] = entry
    }
}
