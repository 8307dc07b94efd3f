public import Futures

// On Linux, only `dispatchMain()` does the work of Dispatch's main queue. When an asynchronous main function
// or top-level code suspends for the first time, the Swift runtime calls `dispatchMain()` on the main thread.
// A loop that does this work itself keeps the main actor on the main thread.

extension EventLoop {
    /// Whether this loop, while it runs, also does the work of Dispatch's main queue. The work of this queue
    /// is the code of `@MainActor`, of `Task` in top-level code, and of `DispatchQueue.main`.
    ///
    /// The value is `true` for ``main``. For another loop of the main thread, such as a loop that is attached to
    /// the loop of a host, the value is `false` at first. The value becomes `true` when you set it. It also
    /// becomes `true` when a closure that is isolated to the main actor starts on that loop with
    /// ``Futures/Future/init(on:isolation:_:)``.
    ///
    /// The work of the main queue does not keep ``Futures/EventLoop/run()`` from returning. Setting this property
    /// on a thread other than the main thread traps.
    ///
    /// Binds [`uv_poll_start`](https://docs.libuv.org/en/v1.x/poll.html).
    public var servesMainQueue: Bool {
        get { uv.servesMainQueue }
        set {
            core.checkThread()
            guard EventLoop.isMainThread else {
                trap(
                    "servesMainQueue was set on an event loop that is not the main thread's. Only the main thread can "
                        + "do the work of the main queue: set it on EventLoop.main.")
            }
            uv.servesMainQueue = newValue
        }
    }

    /// Runs the loop ``main`` until `body` has ended, and returns its value. If `body` throws an error, this
    /// method throws the same error.
    ///
    /// ```swift
    /// @main struct Daemon {
    ///     static func main() throws {
    ///         try EventLoop.runMain { loop in
    ///             try await loop.sleep(for: .seconds(1)).value
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// Blocks the calling thread. Runs `body` on the loop, isolated to the main actor. In an asynchronous `main`,
    /// call this function only before the first `await`. After the first `await`, the loop runs already, and a
    /// call traps. A call in a callback of the loop also traps.
    @MainActor
    public static func runMain<Value>(
        _ body: @escaping @MainActor (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = main
        return try loop.run(until: Future(on: loop) { try await body(loop) })
    }
}
