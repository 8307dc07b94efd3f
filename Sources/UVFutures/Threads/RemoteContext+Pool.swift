public import Futures
internal import SystemIO

extension RemoteContext {
    /// The context that runs closures on libuv's thread pool. By default, the pool has four threads for the whole
    /// process. `UV_THREADPOOL_SIZE` in the environment sets the number of threads. The pool also reads and
    /// writes files. If its threads cannot be started, futures fail with ``SystemError``.
    ///
    /// If the future of a closure belongs to a virtual loop or to a host of a `World`, the closure runs on that loop's
    /// thread, after the host's `workDuration`. On a loop of libuv, `run()` returns only after all closures that
    /// have started have ended, even if their futures were cancelled. `shutdown()` of that loop also waits
    /// for these closures. Binds [`uv_queue_work`](https://docs.libuv.org/en/v1.x/threadpool.html).
    public static let pool = RemoteContext(PoolRunner())

    /// The context that runs closures on the loop of the main thread. A closure that comes from the main
    /// thread runs at once. A closure that comes from another thread waits in the loop's ready queue.
    ///
    /// Running a closure traps if `EventLoop.main` has never been used on the main thread.
    public static let mainImmediate = custom(name: "mainImmediate") { job in
        let core = EventLoop.existingMain.core
        if core.isCurrent { job() } else { core.accept(job) }
    }

    /// The context that runs closures on the loop of the main thread. Every closure waits in the loop's ready
    /// queue.
    ///
    /// Running a closure traps if `EventLoop.main` has never been used on the main thread.
    public static let main = custom(name: "main") { job in EventLoop.existingMain.core.accept(job) }
}

private final class PoolRunner: RemoteRunner {
    let name = "pool"

    func start(_ job: RemoteJob, asBarrier: Bool) {
        let loop = job.loop
        if loop.isCurrent {
            loop.system.runInPool(job)
        } else if !loop.core.accept({ loop.system.runInPool(job) }) {
            job.cancel()
        }
    }
}
