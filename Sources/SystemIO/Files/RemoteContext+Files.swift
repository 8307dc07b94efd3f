public import Futures

extension RemoteContext {
    /// The context for the files of all loops of the process: the operations of ``Directory`` and ``File`` run here,
    /// and your closures may, too. By default, at most four run at a time. The others wait in a queue.
    ///
    /// The threads are the library's own. So a slow disk delays neither name look-ups nor ``pool``. To change how many
    /// operations run at a time, call `RemoteContext.files.setLimit(_:)`. A thread that has been idle for five seconds
    /// ends. If no thread exists and none can be started, futures fail with ``SystemError``.
    ///
    /// If the future of a closure belongs to a virtual loop or to a host of a `World`, the closure runs on that loop's
    /// thread. The end of a loop does not wait for closures that have started. They end by themselves.
    public static let files = RemoteContext(FileRunner())
}

private final class FileRunner: LimitedRunner {
    let name = "files"

    var limit: Int {
        get { FilePool.shared.limit }
        set { FilePool.shared.limit = newValue }
    }

    func start(_ job: RemoteJob, asBarrier: Bool) {
        let loop = job.loop
        if loop.isCurrent {
            loop.system.runOnDisk(job)
        } else if !loop.core.accept({ loop.system.runOnDisk(job) }) {
            job.cancel()
        }
    }
}
