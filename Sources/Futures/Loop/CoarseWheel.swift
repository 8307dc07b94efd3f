/// An object with a deadline that changes often and rarely passes. A loop may have thousands of such objects.
///
/// These objects share the slots of their loop's wheel.
package protocol CoarselyTimed: AnyObject {
    /// The place of this object in the wheel. Only the wheel changes it.
    var place: CoarsePlace { get set }
    /// Called within a turn when the deadline has passed. The wheel has already removed this object.
    func timeHasCome(_ now: UInt64)
}

/// The place of an object in its loop's wheel.
package struct CoarsePlace {
    fileprivate var slot: CoarseSlot?
    fileprivate var index = 0

    package init() {}

    package var isTaken: Bool { slot != nil }
}

extension LoopCore {
    /// Sets the deadline of `entry`, and drops the deadline that `entry` had before. Calls `timeHasCome` of
    /// `entry` when the deadline has passed.
    package func setDeadline(_ deadline: UInt64, of entry: any CoarselyTimed, now: UInt64) {
        let due = isShutDown ? nil : CoarseSlot.deadline(for: deadline, now: now)
        if let slot = entry.place.slot, slot.deadline == due { return }
        removeDeadline(of: entry)
        guard let due else { return }
        let slot = coarse[due] ?? CoarseSlot(self, due)
        entry.place.index = slot.entries.count
        entry.place.slot = slot
        slot.entries.append(entry)
    }

    /// Removes the deadline of `entry`. Does nothing if `entry` has no deadline.
    package func removeDeadline(of entry: any CoarselyTimed) {
        guard let slot = entry.place.slot else { return }
        slot.remove(entry)
        if slot.entries.isEmpty { remove(slot) }
    }

    fileprivate func remove(_ slot: CoarseSlot) {
        slot.timer?.fail(CancellationError())
        if coarse[slot.deadline] === slot { coarse[slot.deadline] = nil }
        requestTurn()
    }
}

/// A group of entries that are due at the same time: a slot of the wheel of the deadlines that may be met a little late. Late
/// means at most by a sixteenth of the time that was left when the deadline was set, and at most by 1.1 s. They are never
/// met early.
///
/// Each slot is one timer of the loop, and exists only while it has entries. So thousands of connections with
/// the same time limit share a few dozen timers. Adding or removing an entry changes the loop's timers only when a slot
/// is made or becomes empty. A slot is the producer of its timer's future, which no user sees. When the last entry is
/// removed, that future is cancelled.
final class CoarseSlot: Producer {
    /// The number of entries that are called in one turn. Many entries close a connection, which takes time.
    private static let share = 256
    private static let finest: UInt64 = 1 << 20
    private static let coarsest: UInt64 = 1 << 30

    /// Returns the deadline of the slot for an entry that is due at `deadline`. Returns `nil` if the slot's
    /// deadline does not fit into 64 bits.
    fileprivate static func deadline(for deadline: UInt64, now: UInt64) -> UInt64? {
        let distance = deadline > now ? deadline - now : 0
        let sixteenth = max(distance / 16, finest)
        let width = min(coarsest, 1 << UInt64(63 - sixteenth.leadingZeroBitCount))
        let (end, overflow) = deadline.addingReportingOverflow(width - 1)
        return overflow ? nil : end & ~(width - 1)
    }

    fileprivate let deadline: UInt64
    fileprivate var entries: [any CoarselyTimed] = []
    /// The future of the slot's timer. `nil` after the timer has ended.
    fileprivate var timer: Cell?

    init(_ loop: LoopCore, _ deadline: UInt64) {
        self.deadline = deadline
        super.init()
        let timer = Cell.plain(loop, state: .pending, of: Never.self)
        timer.setProducer(self)
        self.timer = timer
        loop.startTimer(timer, deadline: deadline, keepsAlive: true)
        loop.coarse[deadline] = self
    }

    fileprivate func remove(_ entry: any CoarselyTimed) {
        let last = entries.removeLast()
        if last !== entry {
            last.place.index = entry.place.index
            entries[entry.place.index] = last
        }
        entry.place = CoarsePlace()
    }

    override func timeIsUp(for timer: Cell) {
        let loop = timer.loop
        let now = loop.clock
        var left = min(entries.count, Self.share)
        while left > 0, let entry = entries.last {
            left -= 1
            remove(entry)
            entry.timeHasCome(now)
        }
        if entries.isEmpty {
            loop.remove(self)
        } else {
            loop.startTimer(timer, deadline: deadline, keepsAlive: true)
        }
    }

    override func settled() { timer = nil }
}
