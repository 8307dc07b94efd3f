public import Futures

extension RemoteContext {
    /// Runs closures on libuv's thread pool. The pool has four threads for the whole process, and also serves
    /// files and names.
    ///
    /// The returned future has to belong to a loop of libuv. That loop's `run()` does not return until closures that
    /// were started have ended, and its `shutdown()` also waits for them. This holds for cancelled closures too.
    /// `UV_THREADPOOL_SIZE` in the environment sets the number of threads.
    /// Binds [`uv_queue_work`](https://docs.libuv.org/en/v1.x/threadpool.html).
    public static let pool = RemoteContext(PoolRunner())

    /// Runs closures on the loop of the main thread. On the main thread, closures run at once. On other threads,
    /// closures are put into the loop's ready queue.
    ///
    /// Traps if `EventLoop.main` has not been used on the main thread before.
    public static let mainImmediate = RemoteContext(
        LoopRunner(name: "mainImmediate", isImmediate: true) { .existingMain })

    /// Runs closures on the loop of the main thread. Closures are always put into the loop's ready queue.
    ///
    /// Traps if `EventLoop.main` has not been used on the main thread before.
    public static let main = RemoteContext(LoopRunner(name: "main", isImmediate: false) { .existingMain })
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
