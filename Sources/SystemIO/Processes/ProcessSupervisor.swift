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
    public var loop: EventLoop { core }
    let core: LoopCore
    /// The event handler. Without one, giving up a program counts as an unhandled failure of the loop. Set it before the
    /// first ``add(_:_:restarts:)``, which reports the start of its program.
    public var onEvent: ((Event) -> Void)? {
        get { eventHandler }
        set { withExtendedLifetime(exchange(&eventHandler, with: newValue)) {} }
    }
    private var eventHandler: ((Event) -> Void)?
    private var programs: [SupervisedProgram] = []
    private var isEnding = false
    private lazy var endedPromise = core.makeSharedPromise()
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
        let program = try appended(name, configuration, restarts)
        do { return try program.start() } catch {
            programs.removeAll { $0 === program }
            throw error
        }
    }

    /// Adds a program without starting it: its state is ``State/over`` until you call ``start(_:)``. So a program can be
    /// added that is to be started later, or that is not installed yet.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the name is taken or `restarts` are out of range, and
    /// ``Futures/FutureError/shutDown`` after ``end(within:)``.
    public func addStopped(
        _ name: String, _ configuration: ChildProcess.Configuration, restarts: Restarts = Restarts()
    ) throws {
        _ = try appended(name, configuration, restarts)
    }

    /// Adds a program. This comes before its start is reported: a handler of that event may end the program.
    private func appended(
        _ name: String, _ configuration: ChildProcess.Configuration, _ restarts: Restarts
    ) throws -> SupervisedProgram {
        core.checkThread()
        guard !isEnding else { throw FutureError.shutDown }
        try requireArgument(
            !programs.contains { $0.name == name },
            "a program called \(name) has been added already; give another name"
        )
        try requireArgument(
            restarts.limit >= 0 && restarts.period > .zero,
            "restarts.limit must be at least 0 and restarts.period positive, not \(restarts.limit) and \(restarts.period)"
        )
        if let complaint = restarts.backoff.complaint { throw FutureError.invalidArgument(complaint) }
        let program = SupervisedProgram(name, configuration, restarts, self)
        programs.append(program)
        return program
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
        guard !isEnding, !core.isShutDown else { throw FutureError.shutDown }
        guard let orphans = try Orphans(on: core) else {
            throw FutureError.invalidArgument(
                "a supervisor of this process adopts its orphans already; call adoptOrphans() once, on one "
                    + "supervisor"
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
    /// name, or if the program has been stopped or removed meanwhile. Fails with ``Futures/FutureError/shutDown`` after
    /// ``end(within:)``, and with the errors of ``ChildProcess/start(_:on:)``; the program is then over. ``onEvent`` gets
    /// ``Event/notStarted(name:_:)``. Without it, a failure of a future that you discard is reported as unhandled.
    @discardableResult
    public func restart(
        _ name: String, with configuration: ChildProcess.Configuration? = nil,
        within grace: Duration = ChildProcess.defaultGrace
    ) -> Future<ChildProcess> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        guard let program = program(name) else { return missing(name) }
        if let configuration { program.configuration = configuration }
        return program.restart(within: grace)
    }

    /// Throws an error if the supervisor ends, or if `program` has been removed.
    func checkMayStart(_ program: SupervisedProgram) throws {
        guard !isEnding else { throw FutureError.shutDown }
        guard programs.contains(where: { $0 === program }) else { throw Self.missing(program.name) }
    }

    /// Starts a program that does not run, and completes with its process. One that waits for its next start is started at
    /// once; one that is ending, when it has ended. If the program runs, nothing happens, and the future has its process.
    ///
    /// The earlier restarts of the program no longer count. Fails as ``restart(_:with:within:)`` does.
    @discardableResult
    public func start(_ name: String) -> Future<ChildProcess> {
        core.checkThread()
        guard let program = program(name) else { return missing(name) }
        if let process = program.steadyProcess { return core.succeeded(process) }
        return program.restart(within: nil)
    }

    /// Ends a program, and completes when it has ended. The program keeps its place among ``names``, and does not run until
    /// ``start(_:)`` or ``restart(_:with:within:)`` is called.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative, or if no program has that name.
    @discardableResult
    public func stop(_ name: String, within grace: Duration = ChildProcess.defaultGrace) -> Future<Void> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        guard let program = program(name) else { return missing(name) }
        program.isStopped = true
        return program.end(within: grace)
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
    /// called. Completes when no process is left. Each program has `grace` to end by itself, so programs that do not end
    /// take that time one after another. The orphans have it all together.
    ///
    /// A second call can only shorten the time of the processes that still run. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)``, and ends nothing, if `grace` is negative.
    @discardableResult
    public func end(within grace: Duration = ChildProcess.defaultGrace) -> Future<Void> {
        core.checkThread()
        do { try ChildProcess.check(grace) } catch { return core.failed(error) }
        if isEnding {
            if programs.isEmpty { _ = orphans?.end(within: grace) }
            programs.last?.end(within: grace)
            self.grace = min(self.grace, grace)
            return endedPromise.future
        }
        isEnding = true
        self.grace = grace
        for program in programs { program.stopRestarting() }
        endLast()
        return endedPromise.future
    }

    private var grace: Duration = .zero

    private func endLast() {
        guard let last = programs.last else {
            let end = orphans?.end(within: grace) ?? core.succeeded()
            return end.whenComplete { [self] _ in endedPromise.completeLast() }
        }
        last.end(within: grace).whenComplete { [self] _ in
            programs.removeAll { $0 === last }
            endLast()
        }
    }

    /// Ends all programs, as ``end(within:)`` does, when this process gets one of `signals`, and completes when no
    /// process is left. Each program has `grace`, one after another: a time limit for the whole end, such as
    /// `TimeoutStopSec=` of systemd, has to be longer than the sum. A further signal kills the remaining programs. Until
    /// the future completes, the signals have no other effect.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` for a signal that cannot be caught or a negative `grace`,
    /// and with ``SystemError`` if the system refuses.
    public func drain(
        on signals: ProcessSignal..., within grace: Duration = ChildProcess.defaultGrace
    ) -> Future<Void> {
        core.checkThread()
        return core.attempt {
            try ChildProcess.check(grace)
            let watches = try core.catchSignals(signals)
            let promise = core.makeSharedPromise(of: Void.self)
            for watch in watches {
                watch.onDelivery = { [self] in
                    end(within: isEnding ? .zero : grace).whenComplete { result in
                        for watch in watches { watch.close() }
                        promise.complete(result)
                    }
                }
            }
            return promise.future
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

extension ProcessSupervisor: ScopeMember {
    /// The membership of this supervisor in a scope: ends by ``end(within:)``. A cancelled scope gives each program
    /// ``ChildProcess/defaultGrace``, and a scope that drains what is left of its time. The supervisor has ended when it
    /// has been told to end, and no process is left.
    public var membership: ScopeMembership {
        ScopeMembership(
            ended: endedPromise.future, cancel: { self.end() }, drain: { self.end(within: $0) })
    }
}
