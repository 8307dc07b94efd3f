/// What a loop watches for being abandoned.
final class Abandonment {
    var watches: [UInt64: WatchedCell] = [:]
    var lastNumber: UInt64 = 0
    /// Futures that nothing completes, and that only their consumers hold.
    var orphanages = Fifo<Forever>()
    /// Whether either of these has members. Looking at them directly would be checked at run time each time.
    var isWatched = false
}
