public import Futures

// On Linux, only `dispatchMain()` does the work of Dispatch's main queue. When an asynchronous main function
// or top-level code suspends for the first time, the Swift runtime calls `dispatchMain()` on the main thread.
// A loop that does this work itself keeps the main actor on the main thread.

extension EventLoop {
    /// Whether this loop, while it runs, does the work of Dispatch's main queue: `@MainActor`, `Task` in top-level
    /// code, `DispatchQueue.main`.
    ///
    /// `true` for ``main``. Another loop of the main thread, such as a loop attached to a host's loop, starts with
    /// `false`. It changes to `true` when you set it, or when a body of that loop is isolated to the main actor.
    ///
    /// The work of the main queue does not keep ``Futures/EventLoop/run()`` from returning. Serving an empty queue
    /// costs nothing. Setting this property on a thread other than the main thread traps.
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

    /// Runs ``main`` until `body` has ended, and returns the result of `body` or throws its error.
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
    /// Blocks the calling thread. Runs `body` on the loop, isolated to the main actor. An asynchronous `main` needs
    /// this function only before its first `await`. After the first `await` the loop runs already, and calling this
    /// function traps. Calling it in a callback of the loop traps too.
    @MainActor
    public static func runMain<Value>(
        _ body: @escaping @MainActor (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = main
        return try loop.run(until: Future(on: loop) { try await body(loop) })
    }
}
