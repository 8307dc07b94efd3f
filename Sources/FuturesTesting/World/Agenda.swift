/// The next steps of a simulation: its events at their times, and the loops of a world.
struct Agenda {
    /// The next thing to happen.
    enum Entry {
        case event(any SimulatedEvent)
        case loop(VirtualDriver)
    }

    private var queue = EventQueue()
    private var eventCount: UInt64 = 0
    /// The loops of a world. Empty for a standalone virtual loop.
    var loops = LoopSchedule()
    /// Decides the order of simultaneous events, and of loops that are ready at the same time. If `nil`, events happen
    /// in the order in which they were added.
    var ties: SplitMix?

    mutating func add(_ event: any SimulatedEvent, at time: UInt64) {
        eventCount += 1
        let tie = ties?.next() ?? 0
        queue.add(event, at: time, order: tie & ~0xFFFF_FFFF | eventCount & 0xFFFF_FFFF)
    }

    /// The time of the next event. `nil` if there is none.
    var nextTime: UInt64? { queue.nextTime }

    /// Whether nothing is left to happen.
    var isEmpty: Bool { queue.nextTime == nil && loops.readyCount == 0 && loops.nextDeadline == .max }

    /// Removes and returns the next event, if it is due.
    mutating func takeDue(at now: UInt64) -> (any SimulatedEvent)? {
        guard let time = queue.nextTime, time <= now else { return nil }
        return queue.takeFirst()
    }

    /// Removes and returns the next entry of a world, due now or later, and its time. Returns `nil` if nothing happens
    /// until `end`.
    mutating func takeNext(at now: UInt64, until end: UInt64) -> (entry: Entry, time: UInt64)? {
        var now = now
        while true {
            let next = queue.nextTime ?? .max
            let ready = loops.readyCount
            guard ready > 0 || next <= now else {
                let time = min(next, loops.nextDeadline)
                guard time <= end, time < .max else { return nil }
                now = max(now, time)
                loops.markDue(at: now)
                continue
            }
            // A due event counts as one more loop in the draw.
            let count = next <= now ? ready + 1 : ready
            let index = count > 1 ? ties!.below(count) : 0
            if index == ready { return (.event(queue.takeFirst()), now) }
            if let loop = loops.takeReady(at: index) { return (.loop(loop), now) }
        }
    }

    /// Drops the events.
    mutating func removeEvents() { queue.removeAll() }
}
