extension LoopCore {
    /// Completes at `deadline`, which is in nanoseconds on the loop's clock.
    func sleep(until deadline: UInt64, keepsLoopAlive: Bool) -> Future<Void> {
        checkThread()
        guard !isShutDown else { return failed(FutureError.shutDown) }
        let cell = Cell.plain(self, state: .pending, of: Void.self)
        startTimer(cell, deadline: deadline, keepsAlive: keepsLoopAlive)
        return Future(cell)
    }

    /// Returns the deadline `nanoseconds` from now. A deadline beyond the range of the clock becomes the last
    /// instant of the range, in 584 years.
    func deadline(after nanoseconds: UInt64) -> UInt64 { clock.addingSaturated(nanoseconds) }
}

extension Duration {
    /// The duration in whole nanoseconds, rounded up. At most `UInt64.max`. `nil` if the duration is
    /// negative.
    package var wholeNanoseconds: UInt64? {
        // Computed from attoseconds, since the seconds of `components` do not hold every duration.
        guard attoseconds >= 0 else { return nil }
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt64(clamping: whole).addingSaturated(rest > 0 ? 1 : 0)
    }
}

extension FutureError {
    static func negativeDuration(_ duration: Duration) -> FutureError {
        .invalidArgument("a delay of \(duration) is negative; give zero or more")
    }
}

extension UInt64 {
    package func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
