internal import Dispatch

/// What runs jobs on other threads.
package protocol RemoteRunner: AnyObject, Sendable {
    var name: String { get }
    /// The same for runners that are the same to users.
    var identity: ObjectIdentifier { get }
    /// Whether a job may ask to run alone.
    var hasBarriers: Bool { get }
    /// Runs `job` some time. On any thread, and under no lock.
    func start(_ job: RemoteJob, asBarrier: Bool)
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

/// Another loop: its jobs run from its ready queue.
package final class LoopRunner: RemoteRunner {
    package let name: String
    private let loop: @Sendable () -> EventLoop
    private let isImmediate: Bool

    /// The loop is asked for when there is a job for it. One that is `isImmediate` runs those from its own thread
    /// at once.
    package init(name: String, isImmediate: Bool, loop: @escaping @Sendable () -> EventLoop) {
        self.name = name
        self.loop = loop
        self.isImmediate = isImmediate
    }

    package func start(_ job: RemoteJob, asBarrier: Bool) {
        let loop = loop()
        if isImmediate, loop.isCurrent {
            job.run()
        } else if !loop.execute({ job.run() }) {
            job.cancel()
        }
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
        run { job.run() }
    }
}
