internal import CLibUV
internal import Futures

/// The main task of a program whose `main` is asynchronous, or whose top-level code awaits.
///
/// When it suspends for the first time, the runtime gives the main thread to Dispatch, which goes on with the main actor on
/// other threads, and so would the task. A loop of the main thread that has been made by then runs there instead.
enum MainTask {
    static func stay() {
        switch hook_main_drain({ original in MainTask.runLoop(or: original) }) {
        case DRAIN_HOOK_TAKEN:
            StandardError.print(
                "Something else than EventLoop.main has put itself in the way of the main task "
                    + "(swift_task_asyncMainDrainQueue_hook): in an asynchronous main, that has to run EventLoop.main."
            )
        case DRAIN_HOOK_MISSING where EventLoop.isInTask:
            StandardError.print(
                "This version of Swift does not let EventLoop.main run while an asynchronous main waits: call "
                    + "EventLoop.runMain { loop in … } there, before the first await.")
        default: break
        }
    }

    /// Until the process ends, which it does with the main task.
    private static func runLoop(or original: main_drain?) {
        let loop = EventLoop.existingMain
        loop.uv.waitForMainQueue()
        while !loop.isShutDown { try? loop.run() }
        call_main_drain(original)
    }
}
