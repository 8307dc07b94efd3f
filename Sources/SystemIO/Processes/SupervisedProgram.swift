internal import Futures

/// A program of a supervisor, and its current process.
final class SupervisedProgram {
    let name: String
    var configuration: ChildProcess.Configuration
    private let restarts: ProcessSupervisor.Restarts
    private unowned let supervisor: ProcessSupervisor
    private var process: ChildProcess?
    private var timer: ScheduledTask<Void>?
    /// The times of the restarts within the last period.
    private var recent: [LoopInstant] = []
    private var mayRestart = true
    /// Whether the program was stopped after the last request to start it.
    var isStopped = false
    /// The requested restart, while the process ends.
    private var restarting: Promise<ChildProcess>?

    init(
        _ name: String, _ configuration: ChildProcess.Configuration, _ restarts: ProcessSupervisor.Restarts,
        _ supervisor: ProcessSupervisor
    ) {
        self.name = name
        self.configuration = configuration
        self.restarts = restarts
        self.supervisor = supervisor
    }

    var state: ProcessSupervisor.State {
        process.map { .running($0) } ?? (timer == nil ? .over : .waiting)
    }

    /// The process, unless it is about to end.
    var steadyProcess: ChildProcess? { mayRestart ? process : nil }

    @discardableResult
    func start() throws -> ChildProcess {
        let supervisor = supervisor
        let process = try ChildProcess.start(configuration, on: supervisor.core)
        self.process = process
        mayRestart = true
        // Otherwise, the remaining processes of its group would get in the way of its successor.
        process.exit.whenSuccess { [self] _ in if mayRestart { process.end() } }
        process.gonePromise.future.whenSuccess { [self] in didEnd($0, supervisor) }
        supervisor.tell(.started(name: name, process))
        return process
    }

    /// Starts the program, and tells the handler of events if that fails.
    @discardableResult
    func startOrTell() throws -> ChildProcess {
        do { return try start() } catch {
            supervisor.tell(.notStarted(name: name, error))
            throw error
        }
    }

    private func didEnd(_ exit: ChildProcess.Exit, _ supervisor: ProcessSupervisor) {
        process = nil
        supervisor.tell(.ended(name: name, exit))
        if mayRestart, !restarts.onlyAfterFailure || !exit.isSuccess { restart(supervisor) }
    }

    private func restart(_ supervisor: ProcessSupervisor) {
        let (loop, now) = (supervisor.core, supervisor.core.now)
        recent.removeAll { $0.duration(to: now) >= restarts.period }
        guard recent.count < restarts.limit else {
            return supervisor.tell(.givenUp(name: name, restarts: recent.count))
        }
        recent.append(now)
        let delay = restarts.backoff.delay(afterAttempt: recent.count, using: &loop.random)
        supervisor.tell(.restarting(name: name, after: delay))
        guard mayRestart else { return }
        timer = loop.schedule(after: delay) { [self] in
            timer = nil
            do { try startOrTell() } catch { if mayRestart { restart(supervisor) } }
        }
    }

    /// Ends the process, or only waits for its end if `grace` is `nil`, and completes with a new one. Further calls share
    /// the outcome.
    func restart(within grace: Duration?) -> Future<ChildProcess> {
        isStopped = false
        if let restarting { return restarting.future }
        let supervisor = supervisor
        let promise = supervisor.core.makePromise(of: ChildProcess.self)
        promise.onCancelRequest { .continue }
        restarting = promise
        end(within: grace).whenComplete { [self] result in
            restarting = nil
            // The handler of events hears of it.
            if supervisor.onEvent != nil { promise.future.ignoreFailure() }
            promise.complete(
                result.flatMap { _ in
                    Result {
                        try requireArgument(!isStopped, "\(name) has been stopped meanwhile; start it again")
                        try supervisor.checkMayStart(self)
                        return try startOrTell()
                    }
                })
        }
        return promise.future
    }

    func stopRestarting() {
        mayRestart = false
        recent = []
        timer?.cancel()
        timer = nil
    }

    /// Ends the process, or waits for its end without another signal if `grace` is `nil`. Completes when it has ended
    /// and `didEnd` has been called.
    @discardableResult
    func end(within grace: Duration?) -> Future<Void> {
        stopRestarting()
        guard let process else { return supervisor.core.succeeded() }
        return (grace.map { process.end(within: $0) } ?? process.gonePromise.future).asVoid()
    }
}
