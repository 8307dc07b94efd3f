internal import CFuturesSystem
internal import Futures

/// The main task of a program with an asynchronous `main`, or with top-level code that awaits.
///
/// When the task suspends for the first time, the Swift runtime gives the main thread to Dispatch. Then the
/// main actor, and so the task, would continue on other threads. If the main loop has been created by then,
/// the loop runs on the main thread instead.
enum MainTask {
    /// The loops that were created on the main thread, in a task.
    private static let loops = Locked<[Weak<LoopCore>]>([])

    /// Notes that `loop` was created. Does nothing on other threads than the main thread, and outside of
    /// tasks.
    static func has(_ loop: LoopCore) {
        guard EventLoop.isMainThread, EventLoop.isInTask else { return }
        loops.withLock { $0.append(Weak(loop)) }
        switch hook_main_drain({ original in MainTask.hasSuspended(or: original) }) {
        case DRAIN_HOOK_TAKEN:
            StandardError.print(
                "Other code has set swift_task_asyncMainDrainQueue_hook, so EventLoop.main does not run by "
                    + "itself while an asynchronous main waits: let that code run EventLoop.main."
            )
        case DRAIN_HOOK_MISSING:
            StandardError.print(
                "This version of Swift does not let EventLoop.main run while an asynchronous main waits: call "
                    + "EventLoop.runMain { loop in … } there, before the first await.")
        default: break
        }
    }

    /// Runs the main loop, until the process ends with the main task. Returns the main thread to Dispatch if
    /// the main loop has been shut down or no longer does the work of the main queue.
    private static func hasSuspended(or original: main_drain?) {
        let main = EventLoop.mainIfMade?.core
        for other in loops.withLock({ $0.compactMap(\.object) }) where other !== main && other.isAwaited {
            trap(
                "The main task awaits a future of an event loop that nobody runs. Use EventLoop.main, which runs while an "
                    + "asynchronous main waits, or call run(until:) instead of await.")
        }
        if let main {
            main.uv.waitForMainQueue()
            while !main.isShutDown, main.servesMainQueue { try? main.run() }
        }
        call_main_drain(original)
    }
}
