internal import ByteStreams
public import Futures

/// A program that runs as a child of this process.
///
/// The child is watched by a descriptor of its own, and no signal is caught for that. So it does not matter whether other
/// code of this process handles `SIGCHLD`, starts processes itself, or waits for any child. No child becomes a zombie,
/// and no signal reaches another process, even if the number of the child is used again. Before Linux 6.9, a child that
/// leads a group is a zombie while others of its group run: only that keeps its number, by which the group is meant.
///
/// A child inherits only the descriptors that its ``Configuration`` names. Its signals have their default effects, and
/// none is blocked.
///
/// The process belongs to its loop, and keeps ``Futures/EventLoop/run()`` from returning until it has ended, also if you
/// keep no reference to it. A child that leads a group, see ``Configuration/group``, does so until the last process of
/// the group has ended. When the loop is shut down, the child or its group is killed, unless
/// ``Configuration/endsWithLoop`` is `false`. When this process exits without that, its children run on.
///
/// ```swift
/// var cat = ChildProcess.Configuration("cat", "-n")
/// (cat.standardInput, cat.standardOutput) = (.stream, .stream)
/// let child = try ChildProcess.start(cat, on: loop)
/// child.standardInput?.write("hello\n")
/// let line = child.standardOutput?.readLine()
/// ```
public final class ChildProcess {
    public var loop: EventLoop { core }
    let core: LoopCore
    public let configuration: Configuration
    /// The number of the process, and of the group that it leads. When they have ended, the number may stand for others.
    public let id: Int32
    let handle: any ProcessHandle
    private var input, output, errors, console: DescriptorStream?
    private let exitPromise: Promise<Exit>
    /// Completes as `exit` does, when the group has ended, too.
    let gonePromise: Promise<Exit>
    private(set) var isRunning = true
    /// Whether the process, or one of the group that it leads, is there.
    private(set) var isThere = true
    /// The watch of a group whose leader has ended.
    var groupWatch = GroupWatch()
    /// The process itself until it and its group have ended.
    private var hold: ChildProcess?

    private init(_ start: ProcessStart, _ configuration: Configuration, on loop: EventLoop) {
        core = loop.core
        handle = start.process
        id = handle.id
        self.configuration = configuration
        exitPromise = core.makeSharedPromise(of: Exit.self)
        gonePromise = core.makeSharedPromise(of: Exit.self)
        let limits = configuration.streamLimits
        func stream(_ number: CInt, writes: Bool) -> DescriptorStream? {
            start.carriers[number].map { DescriptorStream(over: $0, writes: writes, limits, on: loop) }
        }
        input = stream(0, writes: true)
        output = stream(1, writes: false)
        errors = stream(2, writes: false)
        console = start.carriers[-1].map { DescriptorStream(overTerminal: $0, limits, on: loop) }
        hold = self
        handle.onEnd = { [unowned self] in ended(Exit(status: $0)) }
        handle.onAbort = { [unowned self] in
            exitPromise.fail(FutureError.shutDown)
            gone(.failure(FutureError.shutDown))
        }
    }

    deinit {
        // A stream that nobody uses ends with the child, without the report of a connection that was forgotten.
        if isKnownUniquelyReferenced(&input) { input?.close() }
        if isKnownUniquelyReferenced(&output) { output?.close() }
        if isKnownUniquelyReferenced(&errors) { errors?.close() }
        if isKnownUniquelyReferenced(&console) { console?.close() }
    }

    private func ended(_ exit: Exit) {
        isRunning = false
        exitPromise.succeed(exit)
        watchGroup(exit)
    }

    /// Called when the process and all of its group have ended, or when their loop is shut down.
    func gone(_ result: Result<Exit, any Error>) {
        (isRunning, isThere) = (false, false)
        defer { hold = nil }
        handle.close()
        gonePromise.complete(result)
    }

    /// Starts a program. When this returns, the program runs. The loop's thread waits for the system meanwhile, mostly
    /// for less than a millisecond.
    ///
    /// Throws ``ProcessError`` if the program cannot be started, with the step that failed and its error. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if the configuration makes no sense, for example if an argument
    /// contains a NUL. Throws ``Futures/FutureError/shutDown`` if the loop has been shut down. Calls `clone` and
    /// `execve`, without a copy of this process, which `fork` would make.
    public static func start(_ configuration: Configuration, on loop: EventLoop) throws -> ChildProcess {
        try start(configuration, on: loop, joints: [:])
    }

    /// Starts a program. `joints` replace some of its streams by pipes to other children.
    static func start(
        _ configuration: Configuration, on loop: EventLoop, joints: [CInt: ProcessLaunch.Source]
    ) throws -> ChildProcess {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { throw FutureError.shutDown }
        let start = try loop.system.startProcess(configuration.launch(joints: joints))
        return ChildProcess(start, configuration, on: loop)
    }

    /// What the child reads as its standard input. To end it, call `shutdownWrite()` or `close()`. `nil` unless
    /// ``Configuration/standardInput`` is `.stream`.
    public var standardInput: DescriptorStream? {
        core.checkThread()
        return input
    }

    /// What the child writes to its standard output. `nil` unless ``Configuration/standardOutput`` is `.stream`.
    ///
    /// Read it to its end, or close it: a child that writes to a full pipe waits. The end comes when all processes that
    /// have inherited the stream have closed it, which may be later than the end of the child.
    public var standardOutput: DescriptorStream? {
        core.checkThread()
        return output
    }

    /// What the child writes to its standard error, as ``standardOutput``. `nil` unless ``Configuration/standardError``
    /// is `.stream`.
    public var standardError: DescriptorStream? {
        core.checkThread()
        return errors
    }

    /// The side of the child's terminal at which a person would sit: what is written here is typed, and what is read
    /// here is shown. `shutdownWrite()` types Ctrl-D. `nil` unless ``Configuration/terminal`` is set.
    public var terminal: DescriptorStream? {
        core.checkThread()
        return console
    }

    /// Completes when the child has ended, with its code or with the signal that has ended it.
    ///
    /// It does not wait for other processes of the child's group: a shell may leave them there on purpose.
    /// Cancelling this future does not end the child: call ``end(within:by:)``. Fails with
    /// ``Futures/FutureError/shutDown`` if the loop is shut down before.
    public var exit: Future<Exit> {
        core.checkThread()
        return exitPromise.future
    }

    /// Sends `signal` to the child or, with `toGroup`, to all processes of its group. Returns `false` if the child has
    /// ended, or if all of its group have. So the rest of a group can be signalled when its leader has ended.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if there is no such signal, and with `toGroup` if the child has
    /// no group of its own, see ``Configuration/group``. Throws ``UVError`` if the system refuses, for example because the
    /// child runs as another user. Calls `pidfd_send_signal`, which cannot mean another process.
    @discardableResult
    public func send(_ signal: ProcessSignal, toGroup: Bool = false) throws -> Bool {
        core.checkThread()
        if signal.rawValue != 0 { try signal.check() }
        try requireArgument(
            !toGroup || leadsGroup,
            "process \(id) is in the group of its parent, which a signal would reach, too; set group to newGroup"
        )
        guard toGroup ? isGroupThere : isRunning else { return false }
        return try handle.signal(signal.rawValue, toGroup: toGroup)
    }

    /// Ends the child, and completes when it has ended and all who wait for ``exit`` have been told. Sends `signal`, and
    /// kills the child when `grace` has passed and it has not ended. A child that is stopped is continued, so that it gets
    /// the signal.
    ///
    /// If the child leads a group, all of this goes to the group, whether the child itself has ended or not: each of its
    /// processes has `grace`, and the future completes when none is left. A second call may kill the child earlier, and
    /// never later. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative or there is no such signal,
    /// and with the errors of ``send(_:toGroup:)``. A process that has made a group or a session of its own is not reached.
    @discardableResult
    public func end(
        within grace: Duration = ChildProcess.defaultGrace, by signal: ProcessSignal = .terminate
    ) -> Future<Exit> {
        core.checkThread()
        do {
            try Self.check(grace)
            try signal.check()
            let isGroup = leadsGroup
            let first = grace == .zero ? .kill : signal
            guard try send(first, toGroup: isGroup) else { return ended }
            hurryGroup()
            guard first != .kill else { return ended }
            try send(.continue, toGroup: isGroup)
            let timer = core.schedule(after: grace) { [weak self] in
                _ = try self?.send(.kill, toGroup: isGroup)
                self?.hurryGroup()
            }
            timer.future.ignoreFailure()
            gonePromise.future.whenComplete { _ in timer.cancel() }
            return ended
        } catch {
            return core.failed(error)
        }
    }

    static func check(_ grace: Duration) throws {
        try requireArgument(grace >= .zero, "end(within:) was given \(grace); give zero or more")
    }

    /// Completes as ``exit`` does, when none of the group is left, and all who wait for that have been told.
    private var ended: Future<Exit> {
        let promise = core.makeSharedPromise(of: Exit.self)
        gonePromise.future.whenComplete { promise.completeLast($0) }
        return promise.future
    }

    /// The time from the request to end until a child is killed.
    public static let defaultGrace: Duration = .seconds(5)

    /// Changes the size of the window of the child's terminal, and so sends ``ProcessSignal/windowChange``.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the child has no terminal, or if the size is out of range.
    /// Throws ``UVError`` if ``terminal`` has been closed.
    public func setWindowSize(_ size: DescriptorStream.WindowSize) throws {
        core.checkThread()
        try requireArgument(
            configuration.terminal != nil, "process \(id) has no terminal; give it one at its start")
        guard let columns = UInt16(exactly: size.columns), let rows = UInt16(exactly: size.rows) else {
            throw FutureError.invalidArgument(
                "a window of \(size.columns) by \(size.rows) is out of range; give 0 to 65535 of both")
        }
        try handle.setWindow(columns: columns, rows: rows)
    }
}

extension ChildProcess: CustomStringConvertible {
    /// The process in one line, such as `process 4711 (sort)`.
    public var description: String { "process \(id) (\(configuration.program))" }
}

@available(
    *, unavailable, message: "A process belongs to its loop's thread; go there with loop.execute { … }."
)
extension ChildProcess: Sendable {}
