public import Futures

extension RemoteContext {
    /// Runs closures on libuv's thread pool: four threads for the whole process, shared with files and names.
    ///
    /// The future needs a loop of libuv. That loop runs, and its `shutdown()` waits, until closures that were started
    /// have ended, cancelled or not. `UV_THREADPOOL_SIZE` in the environment sets the number of threads.
    /// Binds [`uv_queue_work`](https://docs.libuv.org/en/v1.x/threadpool.html).
    public static let pool = RemoteContext(PoolRunner())

    /// Runs closures on the loop of the main thread: at once if called there, otherwise from its ready queue.
    ///
    /// Traps if `EventLoop.main` has not been asked for on the main thread before.
    public static let mainImmediate = RemoteContext(
        LoopRunner(name: "mainImmediate", isImmediate: true) { .existingMain })

    /// Runs closures on the loop of the main thread, always from its ready queue.
    ///
    /// Traps if `EventLoop.main` has not been asked for on the main thread before.
    public static let main = RemoteContext(
        LoopRunner(name: "main", isImmediate: false) { .existingMain })
}

private final class PoolRunner: RemoteRunner {
    let name = "pool"

    func start(_ job: RemoteJob, asBarrier: Bool) {
        let loop = job.loop
        if loop.isCurrent {
            start(job)
        } else if !loop.execute({ self.start(job) }) {
            job.cancel()
        }
    }

    private func start(_ job: RemoteJob) {
        let (loop, id) = (job.loop, ObjectIdentifier(job))
        UVWork.start(job)
        job.whenEnded { if loop.isCurrent { UVWork.cancel(id, on: loop.uv) } }
    }
}
