internal import CFuturesRuntime

extension Misuse {
    /// Says what the caller is, which is not on the loop's thread, and what to write instead. The compiler reports none of
    /// these callers. `home` is the task that the loop belongs to.
    static func remedy(home: UInt) -> String {
        let task = LoopCore.currentTask
        if task == 0 { return "off its event loop's thread. Go there first, with loop.execute { … }." }
        // An actor, which may be that of another loop.
        if swift_task_getCurrentExecutor().identity != 0 {
            return
                "in an actor that does not run on its event loop. Let the loop be the executor of the actor, or go to the loop "
                + "with loop.execute { … }."
        }
        // A nonisolated asynchronous function, in the task that the loop belongs to.
        if task == home {
            return
                "in a nonisolated async function or closure: Swift runs it on a thread of its pool, and not on the loop. "
                + "Write nonisolated(nonsending) or @MainActor before the function, or let the target enable "
                + "NonisolatedNonsendingByDefault; write a closure that awaits in a body, Future(on: loop) { … }; in a "
                + "@concurrent function, go to the loop with loop.execute { … }."
        }
        // The same in another task, or a nonisolated child task.
        return
            "on a thread of Swift's pool: in a child task (async let, a task group), in Task.detached, or in "
            + "a nonisolated async function. Write Future(on: loop) { … } in place of "
            + "the child, and await its value; write nonisolated(nonsending) or @MainActor before the "
            + "function, or let the target enable NonisolatedNonsendingByDefault."
    }
}
