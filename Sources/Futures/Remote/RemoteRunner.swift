internal import Dispatch

/// An object that runs jobs on other threads.
package protocol RemoteRunner: AnyObject, Sendable {
    var name: String { get }
    /// The identity of the runner. Runners that users cannot tell apart have the same identity.
    var identity: ObjectIdentifier { get }
    /// Whether the runner can run a job alone, as a barrier.
    var hasBarriers: Bool { get }
    /// Runs `job` later or at once. Any thread may call this, and holds no lock.
    func start(_ job: RemoteJob, asBarrier: Bool)
}

/// A runner that runs a limited number of jobs at a time.
package protocol LimitedRunner: RemoteRunner {
    var limit: Int { get set }
}

extension RemoteRunner {
    package var identity: ObjectIdentifier { ObjectIdentifier(self) }
    package var hasBarriers: Bool { false }
}

final class QueueRunner: RemoteRunner {
    let name: String
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue, name: String) {
        self.queue = queue
        self.name = name
    }

    var identity: ObjectIdentifier { ObjectIdentifier(queue) }
    var hasBarriers: Bool { true }

    func start(_ job: RemoteJob, asBarrier: Bool) {
        queue.async(flags: asBarrier ? .barrier : []) { job.run() }
    }
}

final class CustomRunner: RemoteRunner {
    let name: String
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(name: String, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.name = name
        self.run = run
    }

    func start(_ job: RemoteJob, asBarrier: Bool) {
        let ticket = Ticket(job)
        run { ticket.job.run() }
    }
}

/// What a custom runner holds of a job. If the runner releases it without running the job, the job is cancelled, and its
/// promise breaks.
private final class Ticket: Sendable {
    let job: RemoteJob

    init(_ job: RemoteJob) { self.job = job }

    deinit { job.cancel() }
}
