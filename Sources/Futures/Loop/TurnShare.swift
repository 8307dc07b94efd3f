/// What is left of the time that a turn may take before others get theirs.
///
/// Work is counted in units: a message, a read out of a buffer, a datagram. Reading the clock takes as long as a short
/// unit, so the loop reads it after each 16th unit only, and the time begins with the first reading. A turn of a few
/// units reads no clock. On virtual time no clock moves within a turn: there a turn ends by the number of its callbacks
/// alone.
@usableFromInline
struct TurnShare {
    /// The share, in nanoseconds.
    var time: UInt64 = 500_000
    /// The most units between two readings of the clock.
    var stride = 16 { didSet { reset() } }

    /// The number of units before the next reading.
    @usableFromInline var unitsLeft = 16
    private var unitsBetween = 16
    /// When the share is used up. `.max` before the first reading.
    private(set) var end = UInt64.max

    /// Begins a new turn.
    @inline(__always)
    mutating func reset() {
        unitsLeft = stride
        end = .max
    }

    /// Begins to measure, and reads the clock often at first: the next units may be expensive.
    mutating func watch(until end: UInt64) {
        guard self.end == .max else { return }
        unitsBetween = min(1, stride)
        (self.end, unitsLeft) = (end, unitsBetween)
    }

    /// Notes a reading of the clock. Returns whether the share is used up.
    mutating func isUsedUp(at now: UInt64) -> Bool {
        watch(until: now.addingSaturated(time))
        unitsBetween = min(2 * unitsBetween, stride)
        unitsLeft = now < end ? unitsBetween - 1 : 0
        return now >= end
    }
}

extension LoopCore {
    /// Counts a unit of work that has been done or is about to be done. Returns whether the turn has had its share, so that
    /// other work has to wait for the next turn. Each turn does at least one unit.
    @inlinable @inline(__always)
    package func spendsTurn() -> Bool {
        unsafe turnShare.unitsLeft &-= 1
        return unsafe turnShare.unitsLeft < 0 && isTurnSpent
    }

    /// Whether the turn has had its share of time. Reads the clock.
    @usableFromInline
    package var isTurnSpent: Bool {
        @inline(never) get {
            let now = clock
            return unsafe turnShare.isUsedUp(at: now)
        }
    }

    /// When the share of a turn that begins now would be used up.
    package var endOfShare: UInt64 { unsafe clock.addingSaturated(turnShare.time) }

    /// Begins to measure this turn, whose share is used up at `end`: much work is to be expected.
    package func watchTurn(until end: UInt64) { unsafe turnShare.watch(until: end) }

    /// Sets the share of time, and the number of units after which the clock is read. With zero, it is read for each unit.
    package func setTurnShare(_ time: Duration, stride: Int = 16) {
        unsafe turnShare.time = time.wholeNanoseconds!
        unsafe turnShare.stride = stride
    }
}
