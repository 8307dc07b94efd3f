internal import CLibUV
internal import Futures

/// The main task of a program with an asynchronous `main`, or with top-level code that awaits.
///
/// When it suspends for the first time, the runtime gives the main thread to Dispatch. The main actor, and so the task,
/// would then continue on other threads. The main loop, if it has been made by then, runs there instead.
enum MainTask {
    /// The loops that the main task may have made.
    private static let loops = Locked<[Loop]>([])

    private struct Loop: Sendable {
        weak let loop: LoopCore?
    }

    /// Notes that a loop was made or the main loop was asked for. Does nothing off the main thread, or outside of
    /// tasks.
    static func has(_ loop: LoopCore) {
        guard EventLoop.isMainThread, EventLoop.isInTask else { return }
        loops.withLock { $0.append(Loop(loop: loop)) }
        switch hook_main_drain({ original in MainTask.hasSuspended(or: original) }) {
        case DRAIN_HOOK_TAKEN:
            StandardError.print(
                "Something else than EventLoop.main has put itself in the way of the main task "
                    + "(swift_task_asyncMainDrainQueue_hook): in an asynchronous main, that has to run EventLoop.main."
            )
        case DRAIN_HOOK_MISSING:
            StandardError.print(
                "This version of Swift does not let EventLoop.main run while an asynchronous main waits: call "
                    + "EventLoop.runMain { loop in … } there, before the first await.")
        default: break
        }
    }

    /// Runs the main loop until the process ends with the main task, or until the loop no longer does the work of the
    /// main queue.
    private static func hasSuspended(or original: main_drain?) {
        let main = EventLoop.mainIfMade?.core
        for other in loops.withLock({ $0.compactMap(\.loop) }) where other !== main && other.isAwaited {
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
