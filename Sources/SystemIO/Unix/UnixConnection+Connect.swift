public import ByteStreams
public import Futures

extension UnixConnection {
    /// Connects to the server at `path`. `path` has the form that ``SocketAddress/init(path:)`` describes.
    ///
    /// While the server's backlog is full, this function tries again until the server has room or `timeout` has
    /// passed. Cancelling the returned future ends the attempt.
    ///
    /// If the connection fails, the error is a ``SystemError``. Its code is ``SystemError/Code/notFound`` if there is
    /// nothing at `path`, and ``SystemError/Code/connectionRefused`` if no process listens at `path` any more. Other
    /// codes are ``SystemError/Code/permissionDenied`` and, after `timeout`, ``SystemError/Code/timedOut``. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if an argument is out of range.
    public static func connect(
        path: String, timeout: Duration = .seconds(10), limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) -> Future<UnixConnection> {
        do {
            try check(timeout, limits, on: loop)
            let deadline = loop.now.advanced(by: timeout)
            let attempt = UnixConnectAttempt(try SocketAddress(path: path), limits, until: deadline, on: loop)
            return attempt.start()
        } catch {
            return loop.failed(error)
        }
    }
}

/// An attempt to connect to a server. It tries again and again while the backlog of the server is full,
/// because the system offers no way to wait for room. Timers keep the attempt alive.
private final class UnixConnectAttempt {
    private let address: SocketAddress
    private let limits: StreamLimits
    private let deadline: LoopInstant
    private let loop: LoopCore
    private let promise: Promise<UnixConnection>
    private var pause = Duration.milliseconds(1)
    private var timer: ScheduledTask<Void>?

    init(_ address: SocketAddress, _ limits: StreamLimits, until deadline: LoopInstant, on loop: EventLoop) {
        self.address = address
        self.limits = limits
        self.deadline = deadline
        self.loop = loop.core
        promise = loop.makePromise()
    }

    func start() -> Future<UnixConnection> {
        promise.onCancelRequest { [self] in
            timer?.cancel()
            return .cancel
        }
        attempt()
        return promise.future
    }

    private func attempt() {
        do throws(SystemError) {
            let socket = try loop.system.connect(toPath: address)
            promise.succeed(UnixConnection(socket, limits: .of(limits, on: loop)))
        } catch {
            let isFull = error.code == .wouldBlock
            if isFull, loop.now < deadline { return attemptLater() }
            promise.fail(isFull ? SystemError(.timedOut, "connect", local: nil, peer: address) : error)
        }
    }

    private func attemptLater() {
        timer = loop.schedule(at: min(deadline, loop.now.advanced(by: pause))) { [self] in attempt() }
        timer?.future.ignoreFailure().whenFailure { [promise] in promise.fail($0) }
        pause = min(pause * 2, .milliseconds(100))
    }
}
