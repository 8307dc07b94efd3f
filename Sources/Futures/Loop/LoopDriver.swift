/// What turns an event loop: it waits, and calls `turn`, `requestedTurn`, `timerFired` or `wokenUp` whenever
/// something happened.
///
/// On the loop's thread, except for `wake`. Nothing here schedules: the order of work is the loop's alone.
package protocol LoopDriver: AnyObject {
    /// Monotonic nanoseconds, read afresh.
    var now: UInt64 { get }
    /// Calls `timerFired` at `deadline` or soon after, instead of at the one given before; never if `nil`. If that has
    /// passed, calls it once before it waits again, after `requestedTurn` if that is to be called as well.
    /// Only a deadline that keeps alive prevents `run` from returning.
    func arm(deadline: UInt64?, keepsAlive: Bool)
    /// Calls `requestedTurn` before it waits again, without a system call. Polls between two of these.
    func requestTurn()
    /// Calls `wokenUp` soon. Any thread; calls may be merged. Never called after `close`.
    func wake()
    /// While `true`, `run` does not return for want of work.
    func keepAlive(_ isNeeded: Bool)
    /// A body of the loop is isolated to the main actor, and may come back there by way of Dispatch's main queue.
    func serveMainActor()
    /// Waits and calls until `stop`, or until nothing is left that could call.
    func run()
    func stop()
    /// One round, without waiting.
    func poll()
    /// Closes the handles that users left open, failing what waits on them. Blocks until that is done, unless
    /// somebody else runs the loop.
    func closeHandles()
    /// The handles that users have open, each in one line.
    var openHandles: [String] { get }
    /// Closes the driver itself, which has no users' handles any more, and calls `done`: before it returns, unless
    /// somebody else runs the loop. Nothing else is called afterwards.
    func close(_ done: @escaping () -> Void)
}
