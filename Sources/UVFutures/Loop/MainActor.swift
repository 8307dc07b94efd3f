public import Futures

// On Linux nobody drains Dispatch's main queue but `dispatchMain()`, to which the first suspension of an asynchronous main
// function, or of top-level code, gives the main thread. A loop that drains it keeps the main actor where it is.

extension EventLoop {
    /// Whether this loop, while it runs, does the work of Dispatch's main queue: `@MainActor`, `Task` in top-level
    /// code, `DispatchQueue.main`.
    ///
    /// `true` for ``main``. For another loop of the main thread, such as one attached to a host's, it is `false` until
    /// it is set, or until a body of the loop is isolated to the main actor. Such work does not keep
    /// ``Futures/EventLoop/run()`` from returning. Costs nothing while the queue is empty. Traps off the main thread.
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

    /// Runs ``main`` until `body` has ended, and returns its result or throws its error.
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
    /// Blocks. Runs `body` on the loop as a body that is isolated to the main actor. An asynchronous `main` needs this
    /// only before its first `await`. After that the loop runs already, and this traps, as it does in a callback.
    @MainActor
    public static func runMain<Value>(
        _ body: @escaping @MainActor (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = main
        return try loop.run(until: Future(on: loop) { try await body(loop) })
    }
}
