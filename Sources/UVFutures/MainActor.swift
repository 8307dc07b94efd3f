public import Futures

// On Linux nobody drains Dispatch's main queue but `dispatchMain()`, and the first suspension of an asynchronous main
// function or of top-level code hands it to another thread. A loop that drains it keeps the main actor where it is.

extension EventLoop {
    /// Whether this loop, while somebody runs it, does the work of Dispatch's main queue: `@MainActor`, `Task` in
    /// top-level code, `DispatchQueue.main`.
    ///
    /// `true` for ``main``, `false` for others until it is set, as on a loop that is attached to the host's on the main
    /// thread. Such work does not keep ``Futures/EventLoop/run()`` from returning. Costs nothing while the queue is empty.
    /// Traps off the main thread.
    ///
    /// Binds [`uv_poll_start`](https://docs.libuv.org/en/v1.x/poll.html).
    public var servesMainQueue: Bool {
        get { uv.servesMainQueue }
        set {
            checkThread()
            guard EventLoop.isMainThread else {
                fatalError(
                    "servesMainQueue was set on an event loop that is not the main thread's. Only the main thread can "
                        + "do the work of the main queue: set it on EventLoop.main.")
            }
            uv.servesMainQueue = newValue
        }
    }

    /// Runs ``main`` until `body` has returned or thrown, and returns or throws that: for an asynchronous `main`.
    ///
    /// ```swift
    /// @main struct Daemon {
    ///     static func main() async throws {
    ///         try EventLoop.runMain { loop in
    ///             try await loop.sleep(for: .seconds(1)).value
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// To be called first: it blocks, and `body` runs as a task of the main actor on the loop. Traps after a suspension,
    /// since that has moved the main function to another thread, and in a callback of the loop.
    @MainActor
    public static func runMain<Value>(
        _ body: @escaping @MainActor (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = main
        let promise = loop.makePromise(of: Value.self)
        loop.uv.waitForMainQueue(true)
        defer { loop.uv.waitForMainQueue(false) }
        Task { @MainActor in
            do {
                promise.succeed(try await body(loop))
            } catch {
                promise.fail(error)
            }
        }
        return try loop.run(until: promise.future)
    }
}
