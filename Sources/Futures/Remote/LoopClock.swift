/// The clock of a loop's timers, for code that is generic over clocks. On a virtual loop, such code runs on virtual
/// time.
///
/// May be used in any task, on the loop or elsewhere. A body that is isolated to the main actor goes on after a sleep
/// when the main actor does its work. `run()` of a virtual loop does not do that work, so write such a test without
/// that isolation.
///
/// ```swift
/// let time = Future(on: loop) {
///     let clock = LoopClock(on: loop)
///     return try await clock.measure { try await clock.sleep(for: .seconds(10)) }
/// }
/// ```
public struct LoopClock: Clock {
    private let loop: LoopCore

    /// Creates the clock of `loop`. The clock does not keep `loop` alive.
    public init(on loop: EventLoop) { self.loop = loop.core }

    /// The current time, as ``EventLoop/now``. May be read on any thread.
    public var now: LoopInstant { loop.now }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until `deadline`, and never returns earlier. A real loop rounds the time up to whole milliseconds. Ignores
    /// `tolerance`.
    ///
    /// The wait keeps ``EventLoop/run()`` from returning. Throws a `CancellationError` if the task is cancelled. Throws
    /// ``FutureError/shutDown`` if the loop has been shut down, or is shut down meanwhile.
    public func sleep(until deadline: LoopInstant, tolerance: Duration? = nil) async throws {
        try await loop.run { [loop] in loop.sleep(until: deadline.nanoseconds, keepsLoopAlive: true) }
    }
}
