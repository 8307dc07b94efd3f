/// All jobs of other threads share one entry in the ready queue. Each run of the entry runs some of the jobs.
/// An entry for each job would cost as much as a future.
extension LoopCore {
    /// The number of jobs that run before other callbacks in the ready queue get their turn.
    private static let share = 64

    /// Takes the jobs that other threads have submitted.
    func takeJobs() {
        jobs.refill(from: inbox)
        queueJobs()
    }

    /// Takes the jobs that other threads have submitted, and closes the inbox.
    func takeLastJobs() {
        jobs.append(inbox.close())
        queueJobs()
    }

    /// Adds the entry of the jobs to the ready queue, if there are jobs and the entry is not there already.
    func queueJobs() {
        guard !jobs.isEmpty, !areJobsQueued else { return }
        areJobsQueued = true
        enqueue(runJobs)
    }

    private func runJobs() {
        areJobsQueued = false
        // Moved into a variable, since each access to a property of the loop is checked at run time.
        var running = JobList()
        swap(&running, &jobs)
        // Runs one job at a time if slow callbacks are watched, since each callback is timed.
        let share = min(slowCallbacks == nil ? LoopCore.share : 1, turnState.jobAllowance)
        turnState.jobAllowance -= share
        for index in 0..<share {
            guard let job = running.takeFirst() else { break }
            job.body()
            if index % 32 == 31, isTurnSpent {
                turnState.jobAllowance = 0
                break
            }
        }
        running.append(jobs)
        jobs = running
        if turnState.jobAllowance > 0 { queueJobs() }
    }
}
