/// A counter that counts down to zero. When the counter reaches zero, all waits complete.
public final class FutureLatch {
    private let isDown: FutureEvent
    /// The number of steps that are left until zero.
    public private(set) var count: Int

    /// Creates a latch that waits for `count` steps. Traps if `count` is negative.
    public init(count: Int, on loop: EventLoop) {
        if count < 0 { Misuse.size(count, of: "A latch's count", atLeast: 0) }
        self.count = count
        isDown = FutureEvent(on: loop, name: "latch")
        if count == 0 { isDown.set() }
    }

    /// Lowers ``count`` by `steps`, but not below zero. Traps if `steps` is negative.
    public func countDown(by steps: Int = 1) {
        if steps < 0 { Misuse.size(steps, of: "A latch's number of steps", atLeast: 0) }
        isDown.loop.core.checkThread()
        count -= min(steps, count)
        if count == 0 { isDown.set() }
    }

    /// Completes when ``count`` is zero. Fails with ``FutureError/closed(_:)`` if the latch is released
    /// before that.
    ///
    /// ```swift
    /// let latch = FutureLatch(count: names.count, on: loop)
    /// for name in names { fetch(name).whenComplete { _ in latch.countDown() } }
    /// latch.wait().whenSuccess { print("all have ended, in whatever way") }
    /// ```
    public func wait(token: CancellationToken = .none) -> Future<Void> { isDown.wait(token: token) }
}
