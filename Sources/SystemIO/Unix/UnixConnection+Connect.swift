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
        return loop.attempt {
            try check(timeout, limits, on: loop)
            let address = try SocketAddress(path: path)
            let core = loop.core
            let deadline = core.now.advanced(by: timeout)
            let promise = core.makePromise(of: UnixConnection.self)
            promise.isCalled("a connection to \(address)")
            var pause = Duration.milliseconds(1)
            var timer: ScheduledTask<Void>?
            // Tries again and again while the backlog of the server is full, because the system offers no way to
            // wait for room. Timers keep the attempt alive.
            func attempt() {
                do throws(SystemError) {
                    let socket = try core.system.connect(toPath: address)
                    promise.succeed(UnixConnection(socket, limits: .of(limits, on: core)))
                } catch {
                    let isFull = error.code == .wouldBlock
                    if isFull, core.now < deadline { return attemptLater() }
                    promise.fail(
                        isFull ? SystemError(.timedOut, "connect", local: nil, peer: address) : error)
                }
            }
            // The last attempt comes at the deadline.
            func attemptLater() {
                timer = core.schedule(at: min(deadline, core.now.advanced(by: pause))) { attempt() }
                timer?.future.ignoreFailure().whenFailure { promise.fail($0) }
                pause = min(pause * 2, .milliseconds(100))
            }
            // The timer would be the last to hold the promise.
            promise.onCancelRequest {
                withExtendedLifetime(promise) { _ = timer?.cancel() }
                return .cancel
            }
            attempt()
            return promise.future
        }
    }
}
