/// The part of an event loop that waits for events. It calls `turn`, `requestedTurn`, `timerFired` or
/// `wokenUp` when something has happened.
///
/// All functions except `wake` are called on the loop's thread. A driver decides no order of work: only the
/// loop does.
package protocol LoopDriver: AnyObject {
    /// The current time of a monotonic clock in nanoseconds. Each access reads the clock.
    var now: UInt64 { get }
    /// Calls `timerFired` at `deadline` or soon after, and forgets the deadline that was given before. `nil`
    /// means no deadline. If the deadline has passed, calls `timerFired` once before the next wait, but after
    /// a requested `requestedTurn`. `run` returns before the deadline if nothing else is left and
    /// `keepsAlive` is `false`.
    func arm(deadline: UInt64?, keepsAlive: Bool)
    /// Calls `requestedTurn` before the next wait, without a system call. Between two such calls the driver
    /// polls for events.
    func requestTurn()
    /// Calls `wokenUp` soon. May be called on any thread. Several calls may lead to one call of `wokenUp`.
    /// The loop never calls this after `close`.
    func wake()
    /// Keeps `run` from returning while `isNeeded` is `true`, even if no work is left.
    func keepAlive(_ isNeeded: Bool)
    /// Prepares for a body that is isolated to the main actor. Jobs of such a body may come through
    /// Dispatch's main queue.
    func serveMainActor()
    /// Waits for events and handles them, until `stop` is called or no event can come any more.
    func run()
    func stop()
    /// Handles the events that have come, without waiting.
    func poll()
    /// Closes the handles that users have left open, and fails the futures that wait for these handles.
    /// Blocks until all are closed, unless a host runs the loop.
    func closeHandles()
    /// A description of each handle that users have open. Each description is one line.
    var openHandles: [String] { get }
    /// Closes the driver, after all handles of users have been closed. Then calls `done`: before this
    /// function returns, unless a host runs the loop. Calls nothing after `done`.
    func close(_ done: @escaping () -> Void)
    /// Returns a random number.
    func randomNumber() -> UInt64
    /// Returns the time in nanoseconds for which the driver has waited, as far as it knows. The driver measures it from
    /// the first call on. Returns zero if a host waits.
    func measuredIdleTime() -> UInt64
}

extension LoopDriver {
    package func randomNumber() -> UInt64 { UInt64.random(in: .min ... .max) }
}
