internal import ByteStreams
public import Futures

/// A program that runs as a child of this process.
///
/// The child is watched through a descriptor of its own, without a signal handler. So other code of this process may
/// handle `SIGCHLD`, start processes itself, or wait for any child. No child becomes a zombie, and no signal reaches
/// another process, even if the child's process ID is reused. Before Linux 6.9, a child that leads a group stays a
/// zombie while other processes of the group run: that reserves its process ID, which identifies the group.
///
/// A child inherits only the descriptors that its ``Configuration`` names. All signals have their default effects in
/// the child, and it blocks none of them.
///
/// The process belongs to its loop, and keeps ``Futures/EventLoop/run()`` from returning until it has ended, even if
/// you keep no reference to it. If the child leads a group (see ``Configuration/group``), it does so until the last
/// process of the group has ended. When the loop is shut down, the child or its group is killed, unless
/// ``Configuration/endsWithLoop`` is `false`. If this process exits without a shutdown of the loop, its children keep
/// running.
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
    /// The process ID, which is also the ID of a group that the child leads. After they have ended, the system may
    /// reuse it.
    public let id: Int32
    let handle: any ProcessHandle
    /// The streams of the descriptors 0 to 2, and the one of the terminal.
    private var streams: [DescriptorStream?]
    private let exitPromise: Promise<Exit>
    /// Completes as `exit` does, but only when the group has ended, too.
    let gonePromise: Promise<Exit>
    private(set) var isRunning = true
    /// Whether the process, or a process of the group that it leads, still exists.
    private(set) var isThere = true
    /// The watch on a group whose leader has ended.
    var groupWatch = GroupWatch()
    /// A reference to itself until the process and its group have ended.
    private var hold: ChildProcess?

    private init(_ start: ProcessStart, _ configuration: Configuration, on loop: EventLoop) {
        core = loop.core
        handle = start.process
        id = handle.id
        self.configuration = configuration
        exitPromise = core.makeSharedPromise(of: Exit.self)
        gonePromise = core.makeSharedPromise(of: Exit.self)
        exitPromise.isCalled("the exit of process \(id) (\(configuration.program))")
        gonePromise.isCalled("the exit of process \(id) (\(configuration.program)) and its group")
        let limits = configuration.streamLimits
        func stream(_ number: CInt, _ sides: StreamSides) -> DescriptorStream? {
            start.carriers[number].map {
                DescriptorStream(over: $0, number < 0 ? .terminal : .pipe, sides: sides, limits, on: loop)
            }
        }
        streams = [stream(0, .write), stream(1, .read), stream(2, .read), stream(-1, [.read, .write])]
        hold = self
        handle.onEnd = { [unowned self] in ended(Exit(status: $0)) }
        handle.onAbort = { [unowned self] in
            exitPromise.fail(FutureError.shutDown)
            gone(.failure(FutureError.shutDown))
        }
    }

    deinit {
        // An unused stream ends with the child, and is not reported as a forgotten connection.
        for index in streams.indices where isKnownUniquelyReferenced(&streams[index]) {
            streams[index]?.close()
        }
    }

    private func ended(_ exit: Exit) {
        isRunning = false
        exitPromise.succeed(exit)
        watchGroup(exit)
    }

    /// Called when the process and its whole group have ended, or when their loop is shut down.
    func gone(_ result: Result<Exit, any Error>) {
        (isRunning, isThere) = (false, false)
        defer { hold = nil }
        handle.close()
        gonePromise.complete(result)
    }

    /// Starts a program. It is running when this function returns. The loop's thread waits for the system meanwhile,
    /// usually for less than a millisecond.
    ///
    /// If the program cannot be started, throws ``ProcessError``, which names the step that failed and its error.
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the configuration is invalid, for example if an argument
    /// contains a NUL. Throws ``Futures/FutureError/shutDown`` if the loop has been shut down. Calls `clone` and
    /// `execve`, without the copy of this process that `fork` would make.
    public static func start(_ configuration: Configuration, on loop: EventLoop) throws -> ChildProcess {
        try start(configuration, on: loop, joints: [:])
    }

    /// Starts a program. `joints` replace some of its streams with pipes to other children.
    static func start(
        _ configuration: Configuration, on loop: EventLoop, joints: [CInt: ProcessLaunch.Source]
    ) throws -> ChildProcess {
        try loop.core.checkRuns()
        let start = try loop.system.startProcess(configuration.launch(joints: joints))
        return ChildProcess(start, configuration, on: loop)
    }

    /// The stream to the child's standard input. To end the input, call `shutdownWrite()` or `close()`. `nil` unless
    /// ``Configuration/standardInput`` is `.stream`.
    public var standardInput: DescriptorStream? { stream(0) }

    /// The stream of the child's standard output. `nil` unless ``Configuration/standardOutput`` is `.stream`.
    ///
    /// Read it to its end, or close it: a child that writes to a full pipe waits. The stream ends when all processes
    /// that have inherited it have closed it, which may be later than the end of the child.
    public var standardOutput: DescriptorStream? { stream(1) }

    /// The stream of the child's standard error. Works like ``standardOutput``. `nil` unless
    /// ``Configuration/standardError`` is `.stream`.
    public var standardError: DescriptorStream? { stream(2) }

    /// The master side of the child's terminal: write the child's input, and read its output. `shutdownWrite()` types
    /// Ctrl-D. `nil` unless ``Configuration/terminal`` is set.
    public var terminal: DescriptorStream? { stream(3) }

    private func stream(_ index: Int) -> DescriptorStream? {
        core.checkThread()
        return streams[index]
    }

    /// Completes when the child has ended, with its exit code or with the signal that has terminated it.
    ///
    /// Does not wait for other processes of the child's group: a shell may leave them running on purpose. Cancelling
    /// this future does not end the child: call ``end(within:by:)``. Fails with ``Futures/FutureError/shutDown`` if the
    /// loop is shut down first.
    public var exit: Future<Exit> {
        core.checkThread()
        return exitPromise.future
    }

    /// Sends `signal` to the child or, with `toGroup`, to all processes of its group. Returns `false` if the child or,
    /// with `toGroup`, the whole group has ended. So the rest of a group can be signalled after its leader has ended.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the signal does not exist, and with `toGroup` if the child
    /// has no group of its own, see ``Configuration/group``. Throws ``SystemError`` if the system refuses, for example
    /// because the child runs as another user. Calls `pidfd_send_signal`, which cannot hit another process.
    @discardableResult
    public func send(_ signal: ProcessSignal, toGroup: Bool = false) throws -> Bool {
        core.checkThread()
        if signal.rawValue != 0 { try signal.check() }
        try requireArgument(
            !toGroup || leadsGroup,
            "process \(id) has no group of its own, so that the signal would reach this process too; set "
                + "group to newGroup"
        )
        guard toGroup ? isGroupThere : isRunning else { return false }
        return try handle.signal(signal.rawValue, toGroup: toGroup)
    }

    /// Ends the child, and completes when it has ended and everything that waits for ``exit`` has been notified. Sends
    /// `signal`, and kills the child if it has not ended after `grace`. A stopped child is continued, so that it gets
    /// the signal.
    ///
    /// If the child leads a group, the signals go to the whole group, even if the child itself has ended: each process
    /// has `grace`, and the future completes when none is left. A second call can only shorten the time until the kill.
    /// Does not reach a process that has made a group or a session of its own. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative or the signal does not exist, and with the
    /// errors of ``send(_:toGroup:)``.
    @discardableResult
    public func end(
        within grace: Duration = ChildProcess.defaultGrace, by signal: ProcessSignal = .terminate
    ) -> Future<Exit> {
        core.checkThread()
        return core.attempt {
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
            gonePromise.future.whenComplete { _ in timer.cancel() }
            return ended
        }
    }

    static func check(_ grace: Duration) throws {
        try requireNotNegative(grace, givenTo: "end(within:)")
    }

    /// Completes as ``exit`` does, when the whole group has ended and everything that waits for that has been notified.
    private var ended: Future<Exit> {
        let promise = core.makeSharedPromise(of: Exit.self)
        promise.isCalled("the exit of \(self)")
        gonePromise.future.whenComplete { promise.completeLast($0) }
        return promise.future
    }

    /// The default time between the request to end and the kill.
    public static let defaultGrace: Duration = .seconds(5)

    /// Changes the window size of the child's terminal. The terminal then sends ``ProcessSignal/windowChange``.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the child has no terminal, or if the size is out of range.
    /// Throws ``SystemError`` if ``terminal`` has been closed.
    public func setWindowSize(_ size: DescriptorStream.WindowSize) throws {
        core.checkThread()
        try requireArgument(
            configuration.terminal != nil, "process \(id) has no terminal; give it one at its start")
        guard let columns = UInt16(exactly: size.columns), let rows = UInt16(exactly: size.rows) else {
            throw FutureError.invalidArgument(
                "a window of \(size.columns) by \(size.rows) is out of range; give 0 to 65535 for both")
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

extension ChildProcess: ScopeMember {
    /// The membership of this child in a scope: ends by ``end(within:by:)``. A cancelled scope gives the child
    /// ``defaultGrace``, and a scope that drains what is left of its time. No exit of the child is a failure.
    public var membership: ScopeMembership {
        ScopeMembership(ended: ended.map { _ in }, cancel: { self.end() }, drain: { self.end(within: $0) })
    }
}
