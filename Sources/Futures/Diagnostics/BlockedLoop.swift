/// A callback, or a part of a body between two waits, that keeps the thread of a loop for a long time and has not ended: see
/// ``EventLoop/onBlockedLoop(longerThan:_:)``.
public struct BlockedLoop: Hashable, Sendable {
    /// For how long the loop has done nothing else.
    public let duration: Duration
    /// The line of your source code at which the thread was, as file and line. `nil` in a release build, and if the thread
    /// did not answer.
    public let place: String?
    /// The calls on the stack of the thread, at most 24, the innermost first. Each is the file of a program or a library
    /// with an offset in it, as debuggers and `addr2line` take it, and the name of the function if it is known. Empty if
    /// the thread did not answer.
    public let calls: [String]
}

extension BlockedLoop: CustomStringConvertible {
    /// A line with the place, and a line for each call.
    public var description: String {
        let place = place.map { ", and is at \($0)" } ?? ""
        let first = "a callback keeps the loop from all else for \(duration)\(place)"
        return ([first] + calls.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension EventLoop {
    /// Calls `report` when a callback, or a body that does not wait, has kept the loop from all else for `threshold`, and
    /// has not ended: for example because of a loop without an `await`. If `report` is `nil`, these calls end.
    ///
    /// `report` is called on another thread, once for each such callback, up to half of `threshold` later. So it may not use
    /// the loop. Print the report, or end the process. A callback that ends is reported by
    /// ``onSlowCallback(longerThan:_:)``, on the loop.
    ///
    /// The loop is woken twice within each `threshold`, also if it has nothing to do. When a callback is found, its thread
    /// gets SIGURG, which interrupts system calls that wait. The signal is unblocked on the loop's thread, and other handlers
    /// of it hear none until the thread has answered, for a second at most. On a loop that is attached to the event loop of
    /// a host, only the loop's own turns are watched. Callbacks within ``shutdown()`` are not. Traps if `threshold` is not positive.
    ///
    /// ```swift
    /// loop.onBlockedLoop(longerThan: .seconds(2)) { print($0) }
    /// ```
    public func onBlockedLoop(
        longerThan threshold: Duration = .seconds(1), _ report: (@Sendable (BlockedLoop) -> Void)?
    ) {
        core.checkThread()
        guard let nanoseconds = threshold.wholeNanoseconds, nanoseconds > 0 else {
            Misuse.sentence(
                "A callback that blocks its loop cannot be found after \(threshold); give more than zero.")
        }
        core.blockedWatch?.end()
        core.blockedWatch = nil
        guard let report, !core.unhandled.isOver else { return }
        let watch = BlockedLoopWatch(of: core, after: nanoseconds, report)
        if core.isAtWork { watch.workBegins() }
        watch.start()
        core.blockedWatch = watch
    }
}
