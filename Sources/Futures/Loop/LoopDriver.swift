/// What turns an event loop: it waits, and calls `turn`, `requestedTurn`, `timerFired` or `wokenUp` whenever
/// something has happened.
///
/// On the loop's thread, except for `wake`. Nothing here schedules: only the loop decides the order of work.
package protocol LoopDriver: AnyObject {
    /// Monotonic nanoseconds, read afresh.
    var now: UInt64 { get }
    /// Calls `timerFired` at `deadline` or soon after, instead of at the one given before. Never calls it for `nil`.
    /// If the deadline has passed, calls it once before it waits again, after a requested `requestedTurn`.
    /// Only a deadline that keeps alive prevents `run` from returning.
    func arm(deadline: UInt64?, keepsAlive: Bool)
    /// Calls `requestedTurn` before it waits again, without a system call. Polls between two of these.
    func requestTurn()
    /// Calls `wokenUp` soon. Any thread; calls may be merged. Never called after `close`.
    func wake()
    /// Keeps `run` from returning for want of work, while `true`.
    func keepAlive(_ isNeeded: Bool)
    /// Prepares for a body of the loop that is isolated to the main actor, and may come back there through Dispatch's
    /// main queue.
    func serveMainActor()
    /// Waits and calls back until `stop`, or until nothing is left that could call.
    func run()
    func stop()
    /// Runs one round, without waiting.
    func poll()
    /// Closes the handles that users left open, and fails what waits on them. Blocks until that is done, unless
    /// somebody else runs the loop.
    func closeHandles()
    /// The handles that users have open, each in one line.
    var openHandles: [String] { get }
    /// Closes the driver itself, which has no users' handles any more, and then calls `done`: before it returns,
    /// unless somebody else runs the loop. Calls nothing else afterwards.
    func close(_ done: @escaping () -> Void)
}
