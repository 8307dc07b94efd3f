internal import CLibUV
public import Futures

// The bridge runs a loop of this library inside the poll loop of a host, such as GLib, asyncio or epoll. In
// each round the host waits until `pollDescriptor` is readable, at most for `pollTimeout`. Then the host
// calls `turn()`.

extension EventLoop {
    /// A descriptor that is readable when ``turn()`` has something to do. The descriptor never changes. Use it in
    /// a program that has an event loop of its own (a host), and let that event loop wait for the descriptor.
    /// Timers do not make the descriptor readable: for timers, use ``pollTimeout``.
    ///
    /// If this loop is attached to the libuv loop of a host, do not use this property: the host runs that loop
    /// anyway.
    /// Binds [`uv_backend_fd`](https://docs.libuv.org/en/v1.x/loop.html).
    public var pollDescriptor: CInt {
        core.checkThread()
        return unsafe uv_backend_fd(uv.loop)
    }

    /// The longest time for which a host may wait for ``pollDescriptor`` before it calls ``turn()``. `nil` means
    /// that the host may wait without a limit. Zero means that ``turn()`` has something to do already.
    ///
    /// Read this property again after each ``turn()``, and after each other use of the loop.
    /// Binds [`uv_backend_timeout`](https://docs.libuv.org/en/v1.x/loop.html).
    public var pollTimeout: Duration? {
        core.checkThread()
        let loop = unsafe uv.loop
        if unsafe uv_has_unpolled_watchers(loop) { return .zero }
        // For a loop that waits only for other threads, libuv would return zero.
        if unsafe uv_loop_alive(loop) == 0 { return nil }
        let milliseconds = unsafe uv_backend_timeout(loop)
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    /// Runs the timers that are due, the I/O that is ready, and the ready callbacks, without waiting. Returns
    /// `true` if ``Futures/EventLoop/run()`` would still have something to wait for.
    ///
    /// Traps if it is called in a callback of this loop, or if this loop is attached to the libuv loop of a host
    /// such as Node.js. Throws ``Futures/FutureError/shutDown`` if the loop has been shut down.
    ///
    /// ```swift
    /// let timeout = loop.pollTimeout.map { CInt($0 / .milliseconds(1)) } ?? -1
    /// var entry = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
    /// poll(&entry, 1, timeout)
    /// try loop.turn()
    /// ```
    ///
    /// Binds [`uv_run`](https://docs.libuv.org/en/v1.x/loop.html) with `UV_RUN_NOWAIT`.
    @discardableResult
    public func turn() throws -> Bool {
        try core.enter("turn()") { core.driver.poll() }
        return unsafe !core.isShutDown && uv_loop_alive(uv.loop) != 0
    }
}
