public import FoundationEssentials
public import Futures

extension EventLoop {
    /// The current date and time of the wall clock. That clock may be set, and so may jump. To measure time, use
    /// ``Futures/EventLoop/now``.
    ///
    /// On a virtual loop, the date moves with the virtual time, from the beginning of the year 2000. On a host of a
    /// simulated world, the clock may also be wrong.
    public var date: Date {
        core.checkThread()
        let (seconds, attoseconds) = system.wallClock.components
        return Date(timeIntervalSince1970: Double(seconds) + Double(attoseconds) / 1e18)
    }
}
