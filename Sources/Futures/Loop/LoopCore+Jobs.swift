/// The jobs of other threads share one place in the ready queue, where some of them run at a time. A place for each
/// would cost as much as a future.
extension LoopCore {
    /// How many run before others in the ready queue get their chance.
    private static let share = 64

    /// Takes in what other threads have handed over.
    func takeJobs() {
        jobs.refill(from: inbox)
        queueJobs()
    }

    /// Takes in what other threads have handed over, and refuses more.
    func takeLastJobs() {
        jobs.append(inbox.close())
        queueJobs()
    }

    /// Gives the jobs a place in the ready queue, if there are any.
    func queueJobs() {
        guard !jobs.isEmpty, !areJobsQueued else { return }
        areJobsQueued = true
        enqueue(runJobs)
    }

    private func runJobs() {
        areJobsQueued = false
        // Out of the loop, where each look at it would be checked.
        var running = JobList()
        swap(&running, &jobs)
        // One at a time where each is watched.
        let share = min(slowCallbacks == nil ? LoopCore.share : 1, turnState.jobAllowance)
        turnState.jobAllowance -= share
        for _ in 0..<share {
            guard let job = running.takeFirst() else { break }
            job.body()
        }
        running.append(jobs)
        jobs = running
        if turnState.jobAllowance > 0 { queueJobs() }
    }
}
