/// Something with a deadline that is put off far more often than it is met, and of which there are thousands.
///
/// Such things share the slots of their loop's ``CoarseWheel``.
package protocol CoarselyTimed: AnyObject {
    /// The place in the wheel. Stored here, and changed by the wheel alone.
    var place: CoarsePlace { get set }
    /// Handles that the deadline has passed, after the wheel has removed this. Called within a turn.
    func timeHasCome(_ now: UInt64)
}

/// The place of something in its loop's wheel.
package struct CoarsePlace {
    fileprivate var slot: CoarseSlot?
    fileprivate var index = 0

    package init() {}

    package var isTaken: Bool { slot != nil }
}

/// The deadlines that may be met a little late: by a sixteenth of the time until then, 1.1 s at most. Never early.
///
/// Each slot is one timer of the loop, and exists only while something is in it, so that thousands of connections
/// with the same time limit share a few dozen timers. Entering and leaving cost no heap operation unless a slot is
/// made or becomes empty.
struct CoarseWheel {
    private static let finest: UInt64 = 1 << 20
    private static let coarsest: UInt64 = 1 << 30

    fileprivate var slots: [UInt64: CoarseSlot] = [:]

    /// The number of the loop's timers that are slots.
    var count: Int { slots.count }

    /// Returns when something that is due at `deadline` is looked at. `nil` if that is beyond all time.
    static func slotDeadline(for deadline: UInt64, now: UInt64) -> UInt64? {
        let distance = deadline > now ? deadline - now : 0
        let sixteenth = max(distance / 16, finest)
        let width = min(coarsest, 1 << UInt64(63 - sixteenth.leadingZeroBitCount))
        let (end, overflow) = deadline.addingReportingOverflow(width - 1)
        return overflow ? nil : end & ~(width - 1)
    }

    mutating func removeAll() { slots = [:] }
}

extension LoopCore {
    /// Sets the deadline of `entry`, in place of the one before. Calls `entry` when it has passed.
    package func setDeadline(_ deadline: UInt64, of entry: any CoarselyTimed, now: UInt64) {
        let due = isShutDown ? nil : CoarseWheel.slotDeadline(for: deadline, now: now)
        if let slot = entry.place.slot, slot.deadline == due { return }
        removeDeadline(of: entry)
        guard let due else { return }
        let slot = coarse.slots[due] ?? CoarseSlot(self, due)
        entry.place.index = slot.entries.count
        entry.place.slot = slot
        slot.entries.append(entry)
    }

    /// Removes the deadline of `entry`, which is not called any more.
    package func removeDeadline(of entry: any CoarselyTimed) {
        guard let slot = entry.place.slot else { return }
        slot.remove(entry)
        if slot.entries.isEmpty { remove(slot) }
    }

    fileprivate func remove(_ slot: CoarseSlot) {
        slot.end()
        if coarse.slots[slot.deadline] === slot { coarse.slots[slot.deadline] = nil }
        requestTurn()
    }
}

/// Entries that are due at the same time: the producer of a future that nobody sees, and that is cancelled in the
/// end.
private final class CoarseSlot: Producer {
    /// How many entries are called in one turn: many of them close a connection, which takes its time.
    private static let share = 256

    fileprivate let deadline: UInt64
    fileprivate var entries: [any CoarselyTimed] = []
    /// The slot's timer, until it has ended.
    private var timer: Cell?

    init(_ loop: LoopCore, _ deadline: UInt64) {
        self.deadline = deadline
        super.init()
        let timer = Cell.plain(loop, state: .pending, of: Never.self)
        timer.setProducer(self)
        self.timer = timer
        loop.startTimer(timer, deadline: deadline, keepsAlive: true)
        loop.coarse.slots[deadline] = self
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

    fileprivate func end() { timer?.fail(CancellationError()) }

    override func settled() { timer = nil }
}
