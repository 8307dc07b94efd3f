/// The times of an event that happens once in every interval, on a loop that may be late.
///
/// Times that pass while the work of an earlier one is done are missed. Those that pass because the loop is late are made
/// up at once, so that their number is right over a long time.
struct Cadence {
    /// The largest delay, in nanoseconds, whose events are made up after the loop was busy. After a longer delay, no
    /// crowd of events follows.
    static let longestLateness: UInt64 = 100_000_000

    let interval: UInt64
    /// The time that is next, or that has come last.
    private(set) var due: UInt64
    /// The time at which the timer comes, unless the loop is late.
    private var expected: UInt64
    /// How much of the delay of the next event is to be made up.
    private var lateness: UInt64 = 0

    init(every interval: UInt64, from due: UInt64) {
        self.interval = interval
        self.due = due
        expected = due
    }

    /// Notes that a timer for `deadline` begins now.
    mutating func begin(_ deadline: UInt64, now: UInt64) { expected = max(deadline, now) }

    /// Notes that the timer has come.
    mutating func came(now: UInt64) {
        if now > expected { lateness = min(lateness.addingSaturated(now - expected), Self.longestLateness) }
        expected = now
    }

    mutating func advance() { due = due.addingSaturated(interval) }

    /// Begins anew, an interval after `now`.
    mutating func restart(now: UInt64) { due = now.addingSaturated(interval) }

    /// Skips the times before `now`, except for those that are to be made up.
    mutating func skip(before now: UInt64) {
        let end = now - min(lateness, now)
        if due < end {
            let missed = (end - due - 1) / interval + 1
            let (skipped, overflow) = missed.multipliedReportingOverflow(by: interval)
            due = overflow ? .max : due.addingSaturated(skipped)
        }
        lateness = due < now ? min(lateness, now - due) : 0
    }
}
