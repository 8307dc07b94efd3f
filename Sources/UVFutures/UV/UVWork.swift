internal import CLibUV
internal import Futures
internal import SystemIO

/// A job in libuv's thread pool. See <https://docs.libuv.org/en/v1.x/threadpool.html>.
final class UVWork: UVRequest {
    private let driver: UVLoop
    // The job runs on a thread of the pool. All other code of this class runs on the loop's thread.
    private let job: RemoteJob

    private init(_ driver: UVLoop, _ job: RemoteJob) {
        self.driver = driver
        self.job = job
        super.init(UV_WORK)
    }

    /// Starts a job. Call it on the thread of the job's loop.
    static func start(_ job: RemoteJob, on driver: UVLoop) {
        guard !job.loop.isShutDown, job.isWaiting else { return job.cancel() }
        do throws(SystemError) { try UVPoolThreads.check() } catch { return job.run(refusal: error) }
        let work = UVWork(driver, job)
        driver.works[ObjectIdentifier(job)] = work
        // `uv_queue_work` fails only without a callback.
        _ = work.submit {
            unsafe uv_queue_work(
                driver.loop, work.memory(as: uv_work_t.self),
                { work in unsafe UVWork.pending(work!.pointee.data).job.run() },
                { work, _ in unsafe UVWork.completed(work!.pointee.data).hasEnded() })
        }
    }

    /// Removes the job from the queue of the pool, if it has not been started.
    static func cancel(_ job: ObjectIdentifier, on driver: UVLoop) { driver.works[job]?.cancel() }

    private func hasEnded() {
        driver.works[ObjectIdentifier(job)] = nil
        driver.workHasEnded()
    }
}
