/// A runner that passes jobs on to another runner, a limited number at a time, in the order in which they
/// came.
///
/// One lock protects the whole state. No foreign code is called while the lock is held.
final class Limiter: LimitedRunner {
    fileprivate struct State {
        var limit: Int
        /// The jobs that have not been passed on.
        var queue = Fifo<(job: RemoteJob, isBarrier: Bool)>()
        /// The number of cancelled jobs that are still in the queue, or more.
        var shells = 0
        var running: Set<ObjectIdentifier> = []
        var isBarrierRunning = false
        /// Whether a thread is passing jobs on. That thread checks the queue once more before it stops.
        var isStarting = false
    }

    let name: String
    private let base: any RemoteRunner
    private let state: Locked<State>

    init(limit: Int, name: String, on base: any RemoteRunner) {
        self.name = name
        self.base = base
        state = Locked(State(limit: limit))
    }

    var hasBarriers: Bool { true }

    var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = newValue }
            startWhatMay()
        }
    }

    func start(_ job: RemoteJob, asBarrier isBarrier: Bool) {
        let id = ObjectIdentifier(job)
        state.withLock { $0.queue.append((job, isBarrier)) }
        job.whenEnded {
            _ = self.state.withLock { $0.ended(id, isBarrier: isBarrier) }
            self.startWhatMay()
        }
        startWhatMay()
    }

    /// Starts the jobs that may start. Only one thread at a time does so, in a loop. Without the loop, a
    /// runner that runs jobs at once would recurse from job to job.
    private func startWhatMay() {
        guard state.withLock({ !exchange(&$0.isStarting, with: true) }) else { return }
        while let (job, isShell) = state.withLock({ $0.takeNext() }) {
            if !isShell { base.start(job, asBarrier: false) }
        }
    }
}

extension Limiter.State {
    /// Takes the next job, which counts as running from now on. Or takes a cancelled job (a shell), which the
    /// caller releases outside of the lock. Returns `nil` if no job may start: the calling thread then has to
    /// stop.
    fileprivate mutating func takeNext() -> (job: RemoteJob, isShell: Bool)? {
        if let (job, isBarrier) = queue.first {
            let isShell = !job.isWaiting
            if isShell || mayStart(isBarrier) {
                _ = queue.takeFirst()
                guard !isShell else { return (job, true) }
                running.insert(ObjectIdentifier(job))
                isBarrierRunning = isBarrier
                return (job, false)
            }
        }
        isStarting = false
        return nil
    }

    /// Returns whether the next job may start. A barrier waits for all jobs before it, and all jobs after it
    /// wait for the barrier.
    private func mayStart(_ isBarrier: Bool) -> Bool {
        !isBarrierRunning && (isBarrier ? running.isEmpty : running.count < limit)
    }

    /// Notes the end of a job. Returns jobs that the caller has to release outside of the lock.
    fileprivate mutating func ended(_ job: ObjectIdentifier, isBarrier: Bool) -> [RemoteJob] {
        guard running.remove(job) == nil else {
            if isBarrier { isBarrierRunning = false }
            return []
        }
        // The job was cancelled in the queue. Cancelled jobs are removed when there are more than 64 of them
        // and they fill more than half of the queue.
        shells += 1
        guard shells > 64, 2 * shells > queue.count else { return [] }
        let all = queue.all
        queue.removeAll { !$0.job.isWaiting }
        shells = 0
        return all.map(\.job)
    }
}
