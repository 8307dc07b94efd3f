internal import CLibUV
public import Futures
internal import SystemIO

extension EventLoop {
    /// Creates a loop. The loop belongs to the calling thread. If another thread runs the loop, the loop belongs
    /// to that thread from then on.
    ///
    /// Makes the process ignore SIGPIPE, unless the signal has a handler. While SIGPIPE is ignored, a write
    /// to a peer that has disconnected fails, and does not end the process. A thread that makes or runs a
    /// loop also blocks SIGPIPE. So such a write does not end the process even if other code restores the
    /// default effect of the signal. Programs that such a thread starts inherit the blocked signal.
    ///
    /// Opens `/dev/null` on each of the descriptors 0 to 2 that is closed. Otherwise a connection could get one
    /// of these numbers.
    ///
    /// Throws ``SystemError`` if no descriptors are left.
    /// Binds [`uv_loop_init`](https://docs.libuv.org/en/v1.x/loop.html).
    public convenience init() throws(SystemError) {
        LoadedFile.keepOwn()
        let driver = try UVLoop()
        let core = LoopCore(on: driver)
        unsafe driver.eventLoopReference = Unmanaged.passUnretained(core)
        driver.blocksBrokenPipes = BrokenPipes.ignore()
        MainTask.has(core)
        self.init(owning: core)
    }

    /// The loop of the main thread. The first use of this property creates the loop.
    ///
    /// While this loop runs, it also does the work of Dispatch's main queue, and therefore the work of the
    /// main actor (see ``servesMainQueue``). An asynchronous `main` should read this property before its
    /// first `await`. Top-level code that awaits should do the same. The loop then runs while `main` or the
    /// top-level code waits.
    ///
    /// Traps on other threads.
    public static var main: EventLoop {
        guard isMainThread else {
            trap(
                "EventLoop.main was used on another thread than the main thread. "
                    + "\(isInTask ? adviceForTasks : adviceForThreads)"
            )
        }
        if let loop = mainIfMade { return loop }
        do {
            let loop = try EventLoop()
            loop.servesMainQueue = true
            mainLoop.withLock { $0 = loop }
            return loop
        } catch {
            trap("The event loop of the main thread could not be made: \(error). \(adviceOnDescriptors)")
        }
    }

    private static let adviceForThreads =
        "Make a loop for this thread with EventLoop(), or read EventLoop.main on the main thread and pass "
        + "it to this thread."

    private static let adviceForTasks =
        "In an asynchronous main, and in top-level code that awaits, ask for it before the first await, which otherwise moves "
        + "what follows to another thread. Write nonisolated(nonsending) or @MainActor before other async functions, or let "
        + "the target enable NonisolatedNonsendingByDefault. Pass the loop to a child task or an actor, "
        + "which then goes to it with loop.execute { … }."

    /// The loop of the main thread. `nil` if the loop has not been created yet.
    static var mainIfMade: EventLoop? { mainLoop.withLock { $0 } }

    /// The loop of the main thread, for callers on other threads. Traps if the loop has not been created yet.
    static var existingMain: EventLoop {
        guard let loop = mainIfMade else {
            trap(
                "Work was given to the main thread's event loop before there was one. Ask for EventLoop.main on "
                    + "the main thread first.")
        }
        return loop
    }

    private static let mainLoop = Locked<EventLoop?>(nil)

    /// The version of libuv that this library calls, such as `1.44.2`.
    public static var libuvVersion: String { unsafe String(cString: uv_version_string()) }
}
