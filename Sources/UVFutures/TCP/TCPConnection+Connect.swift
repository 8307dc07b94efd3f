public import ByteStreams
public import Futures

extension TCPConnection {
    /// Connects to `port` of `host`: a numeric address, or `localhost`, whose two addresses are tried in
    /// turn.
    ///
    /// Cancelling the future gives up at once, and closes the socket.
    /// Fails with ``UVError`` when it is refused, ``UVError/Code/timedOut`` after `timeout`, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` is a name, or an argument is out of range.
    /// Binds [`uv_tcp_connect`](https://docs.libuv.org/en/v1.x/tcp.html).
    public static func connect(
        host: String, port: Int, timeout: Duration = .seconds(10), limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) -> Future<TCPConnection> {
        loop.checkThread()
        do {
            guard !loop.isShutDown else { throw FutureError.shutDown }
            guard timeout >= .zero else {
                throw FutureError.invalidArgument("a time limit of \(timeout) is negative; give zero or more")
            }
            try limits.validate()
            let attempt = ConnectAttempt(
                try SocketAddress.all(host: host, port: port), limits: limits, on: loop)
            return attempt.start(timeout: timeout)
        } catch {
            return loop.failed(error)
        }
    }
}

/// Tries the addresses one after another. libuv and the timer keep it alive.
private final class ConnectAttempt {
    private let loop: EventLoop
    private let limits: StreamLimits
    private let promise: Promise<TCPConnection>
    private var addresses: ArraySlice<SocketAddress>
    private var socket: UVTCP?
    private var timer: ScheduledTask<Void>?
    /// Of the first address.
    private var error: UVError?

    init(_ addresses: [SocketAddress], limits: StreamLimits, on loop: EventLoop) {
        self.loop = loop
        self.limits = limits
        self.addresses = addresses[...]
        promise = loop.makePromise()
    }

    func start(timeout: Duration) -> Future<TCPConnection> {
        promise.onCancelRequest { [self] in
            end()
            return .cancel
        }
        let timer = loop.schedule(after: timeout) { [self] in timeIsUp() }
        timer.future.ignoreFailure()
        self.timer = timer
        connectToNext()
        return promise.future
    }

    private func connectToNext() {
        do throws(UVError) {
            let socket = try UVTCP(loop.uv)
            self.socket = socket
            socket.connect(to: addresses.removeFirst()) { [self] error in ended(socket, error) }
        } catch {
            fail(error)
        }
    }

    private func ended(_ socket: UVTCP, _ error: UVError?) {
        guard self.socket === socket else { return }
        self.socket = nil
        guard let error else {
            end()
            socket.readLocalAddress()
            promise.succeed(TCPConnection(socket, limits: limits))
            return
        }
        socket.close()
        let first = self.error ?? error
        self.error = first
        // The loop cancels what is open when it is shut down.
        if addresses.isEmpty || error.isCancellation { fail(first) } else { connectToNext() }
    }

    private func timeIsUp() {
        let peer = socket?.peerAddress
        socket?.readLocalAddress()
        fail(UVError(.timedOut, "connect", local: socket?.localAddress, peer: peer))
    }

    private func fail(_ error: UVError) {
        end()
        promise.fail(error)
    }

    private func end() {
        socket?.close()
        socket = nil
        timer?.cancel()
        timer = nil
    }
}
