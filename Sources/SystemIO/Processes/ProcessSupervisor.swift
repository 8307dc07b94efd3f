public import Futures

/// Keeps programs running: starts them, restarts them when they exit, and stops them in reverse order.
///
/// The supervisor keeps itself alive while one of its programs runs or waits for its next start.
///
/// When a program with a group of its own ends, the rest of the group is ended, too, as
/// ``ChildProcess/end(within:by:)`` does. The program counts as ended, and is restarted, only after that.
///
/// ```swift
/// let supervisor = ProcessSupervisor(on: loop)
/// supervisor.onEvent = { print($0) }
/// try supervisor.add("database", .init("/usr/sbin/database", "--foreground"))
/// try supervisor.add("web", .init("/usr/sbin/web"))
/// try loop.run(until: supervisor.drain(on: .terminate, .interrupt))    // Ends the web server first.
/// ```
public final class ProcessSupervisor {
    /// When to restart a program, and when to give up.
    public struct Restarts: Sendable {
        /// The waits before successive restarts. They start over once a program has run for ``period``.
        public var backoff = Backoff.exponential
        /// The most restarts within ``period``. A program that would need one more is given up.
        public var limit = 5
        public var period: Duration = .seconds(60)
        /// Whether to restart a program only after a failure, and not when it exits with the code 0.
        public var onlyAfterFailure = false

        public init() {}
    }

    /// An event of the program called `name`.
    public enum Event {
        case started(name: String, ChildProcess)
        /// The program has ended, and so has its group, if it led one.
        case ended(name: String, ChildProcess.Exit)
        /// The program could not be started.
        case notStarted(name: String, any Error)
        /// The program is restarted after this time.
        case restarting(name: String, after: Duration)
        /// The program has been restarted `restarts` times within ``Restarts/period``, and is not restarted any more.
        case givenUp(name: String, restarts: Int)
    }

    /// The state of a program.
    public enum State {
        case running(ChildProcess)
        /// The program waits for its next start.
        case waiting
        /// The program is not restarted, unless you call ``ProcessSupervisor/restart(_:with:within:)``.
        case over
    }

    public var loop: EventLoop { core }
    let core: LoopCore
    /// The event handler. Without one, giving up a program counts as an unhandled failure of the loop.
    public var onEvent: ((Event) -> Void)? {
        get { eventHandler }
        set { withExtendedLifetime(exchange(&eventHandler, with: newValue)) {} }
    }
    private var eventHandler: ((Event) -> Void)?
    private var programs: [SupervisedProgram] = []
    private var ending: Promise<Void>?
    private var orphans: Orphans?

    public init(on loop: EventLoop) {
        core = loop.core
        core.checkThread()
    }

    /// Adds a program, and starts it. Programs are stopped in reverse order.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the name is taken or `restarts` are out of range, and
    /// ``Futures/FutureError/shutDown`` after ``end(within:)``. Throws the errors of ``ChildProcess/start(_:on:)``, and
    /// then does not add the program.
    @discardableResult
    public func add(
        _ name: String, _ configuration: ChildProcess.Configuration, restarts: Restarts = Restarts()
    ) throws -> ChildProcess {
        core.checkThread()
        guard ending == nil else { throw FutureError.shutDown }
        try requireArgument(
            !programs.contains { $0.name == name }, "a program called \(name) runs already; give another name"
        )
        try requireArgument(
            restarts.limit >= 0 && restarts.period > .zero,
            "restarts.limit must be at least 0 and restarts.period positive, not \(restarts.limit) and \(restarts.period)"
        )
        if let complaint = restarts.backoff.complaint { throw FutureError.invalidArgument(complaint) }
        let program = SupervisedProgram(name, configuration, restarts, self)
        // Added before the start is reported: a handler of that event may end the program.
        programs.append(program)
        do { return try program.start() } catch {
            programs.removeAll { $0 === program }
            throw error
        }
    }

    /// Adopts the processes that the programs leave behind, such as a daemon with a session of its own. They become
    /// children of this process, are reaped when they end, and are stopped with the supervisor, after the programs.
    /// Process 1 of a container has to do that anyway.
    ///
    /// Every child of this process that this library has not started counts as left behind. So call this only in a
    /// program that starts no other children, and before the first program starts. If the loop is shut down before
    /// ``end(within:)`` has completed, these processes keep running.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if a supervisor of this process already adopts orphans.
    /// Throws ``SystemError`` if the system refuses, or has no `/proc` for the namespace of this process. Calls `prctl`
    /// with `PR_SET_CHILD_SUBREAPER`, and handles `SIGCHLD`.
    public func adoptOrphans() throws {
        core.checkThread()
        guard ending == nil, !core.isShutDown else { throw FutureError.shutDown }
        guard let orphans = try Orphans(on: core) else {
            throw FutureError.invalidArgument(
                "a supervisor of this process adopts its orphans already; call adoptOrphans() once, on one of them"
            )
        }
        self.orphans = orphans
    }

    /// The names of all programs, in the order in which they were added.
    public var names: [String] { programs.map(\.name) }

    /// Returns the state of the program, or `nil` if no program has that name.
    public func state(of name: String) -> State? {
        core.checkThread()
        return program(name)?.state
    }

    /// Restarts a program at once. A running program is first ended, as ``ChildProcess/end(within:by:)`` does. Its
    /// earlier restarts no longer count. `configuration` replaces that of the program, unless it is `nil`.
    ///
    /// Completes with the new process. Further calls while the program is ending share the outcome: it is started once,
    /// with the configuration that was given last and the `grace` of the first call. Cancelling does not prevent the
    /// start. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative, if no program has that
    /// name, or if the program has been removed meanwhile. Fails with ``Futures/FutureError/shutDown`` after
    /// ``end(within:)``, and with the errors of ``ChildProcess/start(_:on:)``; the program is then over.
    @discardableResult
    public func restart(
        _ name: String, with configuration: ChildProcess.Configuration? = nil,
        within grace: Duration = ChildProcess.defaultGrace
    ) -> Future<ChildProcess> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        guard let program = program(name) else { return missing(name) }
        if let configuration { program.configuration = configuration }
        return program.restart(within: grace) { [self] in
            guard ending == nil else { throw FutureError.shutDown }
            guard programs.contains(where: { $0 === program }) else { throw Self.missing(name) }
            return try program.start()
        }
    }

    /// Removes a program, ends it, and completes when it has ended.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative, or if no program has that name.
    @discardableResult
    public func remove(_ name: String, within grace: Duration = ChildProcess.defaultGrace) -> Future<Void> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        guard let program = program(name) else { return missing(name) }
        programs.removeAll { $0 === program }
        return program.end(within: grace)
    }

    /// Ends all programs one after another, the last added first, and then the orphans, if ``adoptOrphans()`` was
    /// called. Completes when no process is left. Each program has `grace` to end by itself.
    ///
    /// A second call can only shorten the time that the processes have that still run. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)``, and ends nothing, if `grace` is negative.
    @discardableResult
    public func end(within grace: Duration = ChildProcess.defaultGrace) -> Future<Void> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        if let ending {
            if programs.isEmpty { _ = orphans?.end(within: grace) }
            programs.last?.end(within: grace)
            self.grace = min(self.grace, grace)
            return ending.future
        }
        let promise = core.makeSharedPromise(of: Void.self)
        ending = promise
        self.grace = grace
        for program in programs { program.stopRestarting() }
        endLast()
        return promise.future
    }

    private var grace: Duration = .zero

    private func endLast() {
        guard let last = programs.last else {
            let end = orphans?.end(within: grace) ?? core.succeeded()
            return end.whenComplete { [self] _ in ending?.completeLast() }
        }
        last.end(within: grace).whenComplete { [self] _ in
            programs.removeAll { $0 === last }
            endLast()
        }
    }

    /// Ends all programs, as ``end(within:)`` does, when this process gets one of `signals`, and completes when no
    /// process is left. A further signal kills the remaining programs. Until the future completes, the signals have no
    /// other effect.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` for a signal that cannot be caught or a negative `grace`,
    /// and with ``SystemError`` if the system refuses.
    public func drain(
        on signals: ProcessSignal..., within grace: Duration = ChildProcess.defaultGrace
    ) -> Future<Void> {
        core.checkThread()
        do {
            try ChildProcess.check(grace)
            let watches = try core.catchSignals(signals)
            let promise = core.makeSharedPromise(of: Void.self)
            for watch in watches {
                watch.onDelivery = { [self] in
                    end(within: ending == nil ? grace : .zero).whenComplete { result in
                        for watch in watches { watch.close() }
                        promise.complete(result)
                    }
                }
            }
            return promise.future
        } catch {
            return core.failed(error)
        }
    }

    func tell(_ event: Event) {
        if let eventHandler { return eventHandler(event) }
        if case .givenUp(let name, let restarts) = event {
            core.reportUnhandled(
                FutureError.message("\(name) has been restarted \(restarts) times, and is given up"),
                of: "supervisor")
        }
    }

    private func program(_ name: String) -> SupervisedProgram? { programs.first { $0.name == name } }

    private func missing<Value>(_ name: String) -> Future<Value> { core.failed(Self.missing(name)) }

    private static func missing(_ name: String) -> FutureError {
        .invalidArgument("there is no program called \(name); add it first")
    }
}

@available(
    *, unavailable, message: "A supervisor belongs to its loop's thread; go there with loop.execute { … }."
)
extension ProcessSupervisor: Sendable {}

extension ProcessSupervisor.State: CustomStringConvertible {
    /// The state in a few words, such as `runs as process 4711`.
    public var description: String {
        switch self {
        case .running(let process): "runs as process \(process.id)"
        case .waiting: "waits for its next start"
        case .over: "is over"
        }
    }
}

extension ProcessSupervisor.Event: CustomStringConvertible {
    /// The event in one line, such as `web ended with code 1`.
    public var description: String {
        switch self {
        case .started(let name, let process): "\(name) started as process \(process.id)"
        case .ended(let name, let exit): "\(name) ended with \(exit)"
        case .notStarted(let name, let error): "\(name) was not started: \(error)"
        case .restarting(let name, let delay): "\(name) is started again after \(delay)"
        case .givenUp(let name, let restarts): "\(name) is given up after \(restarts) restarts"
        }
    }
}
