internal import CFuturesRuntime

/// The kinds of callers that are not on the loop's thread. The compiler reports none of them.
enum CallerKind {
    case thread
    /// An actor, which may be that of another loop.
    case actor
    /// A nonisolated asynchronous function, in the task that the loop belongs to.
    case function
    /// The same in another task, or a nonisolated child task.
    case otherTask

    /// Looks at the calling task. `home` is the task that the loop belongs to.
    init(home: UInt) {
        let task = LoopCore.currentTask
        if task == 0 {
            self = .thread
        } else if swift_task_getCurrentExecutor().identity != 0 {
            self = .actor
        } else {
            self = task == home ? .function : .otherTask
        }
    }

    /// What the caller is, and what to write instead.
    var remedy: String {
        switch self {
        case .thread:
            "off its event loop's thread. Go there first, with loop.execute { … }."
        case .actor:
            "in an actor that does not run on its event loop. Let the loop be the executor of the actor, or go to the loop "
                + "with loop.execute { … }."
        case .function:
            "in a nonisolated async function or closure: Swift runs it on a thread of its pool, and not on the loop. "
                + "Write nonisolated(nonsending) or @MainActor before the function, or let the target enable "
                + "NonisolatedNonsendingByDefault; write a closure that awaits in a body, Future(on: loop) { … }; in a "
                + "@concurrent function, go to the loop with loop.execute { … }."
        case .otherTask:
            "on a thread of Swift's pool: in a child task (async let, a task group), in Task.detached, or in "
                + "a nonisolated async function. Write Future(on: loop) { … } in place of "
                + "the child, and await its value; write nonisolated(nonsending) or @MainActor before the "
                + "function, or let the target enable NonisolatedNonsendingByDefault."
        }
    }
}
