public import ByteStreams
public import Futures

/// A TCP socket that listens, for code that takes its connections one by one. Most servers want
/// ``TCPServer``.
///
/// A connection that nobody accepts waits in the system, `backlog` of them at most. Releasing the last
/// reference closes the listener, unless an `accept` is pending.
public final class TCPListener {
    public let loop: EventLoop
    /// Where it listens, with the port that the system picked if 0 was asked for.
    public let localAddress: SocketAddress
    let limits: StreamLimits
    private let socket: UVListener
    private let closedPromise: Promise<Void>
    private var waiting: [Promise<TCPConnection>] = []

    /// Listens on `port` of `host`: a numeric address, or `localhost`, of whose two addresses it takes the
    /// first that this machine has.
    ///
    /// Port 0 lets the system pick one. The address may have been in use until just now (`SO_REUSEADDR`).
    /// Fails with ``UVError`` if the system refuses, ``UVError/Code/addressInUse`` for instance, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` is a name, or an argument is out of range.
    /// Binds [`uv_listen`](https://docs.libuv.org/en/v1.x/stream.html).
    public init(
        host: String, port: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        on loop: EventLoop
    ) throws {
        loop.checkThread()
        guard !loop.isShutDown else { throw FutureError.shutDown }
        guard let backlog = CInt(exactly: backlog), backlog >= 0 else {
            throw FutureError.invalidArgument(
                "a backlog of \(backlog) is out of range; give 0 to \(CInt.max)")
        }
        try limits.validate()
        let socket = try Self.listen(
            try SocketAddress.all(host: host, port: port), backlog: backlog, on: loop)
        self.loop = loop
        self.limits = limits
        self.socket = socket
        localAddress = socket.localAddress
        closedPromise = loop.makePromise()
        closedPromise.future.ignoreFailure()
        closedPromise.onCancelRequest { .continue }
        socket.onConnection = { [unowned self] error in connectionCame(error) }
        socket.onClose = { [closedPromise] in closedPromise.succeed() }
    }

    private static func listen(
        _ addresses: [SocketAddress], backlog: CInt, on loop: EventLoop
    ) throws(UVError) -> UVListener {
        var addresses = addresses[...]
        while true {
            let address = addresses.removeFirst()
            do throws(UVError) {
                return try UVListener(loop.uv, address, backlog: backlog)
            } catch {
                guard error.code == .addressNotAvailable, !addresses.isEmpty else { throw error }
            }
        }
    }

    deinit {
        if socket.isClosing { return }
        loop.checkThread()
        socket.close()
    }

    /// The next connection. Several may be waited for at a time; they come in order.
    ///
    /// Cancelled when the listener is closed. Fails with ``UVError`` if a connection could not be taken.
    /// Binds [`uv_accept`](https://docs.libuv.org/en/v1.x/stream.html).
    public func accept() -> Future<TCPConnection> {
        loop.checkThread()
        let promise = loop.makePromise(of: TCPConnection.self)
        guard !socket.isClosing else {
            promise.cancel()
            return promise.future
        }
        promise.onCancelRequest { [self, unowned promise] in
            let promise = promise
            promise.cancel()
            waiting.removeAll { $0 === promise }
            return .continue
        }
        waiting.append(promise)
        if waiting.count == 1 { connectionCame(nil) }
        return promise.future
    }

    private func connectionCame(_ error: UVError?) {
        guard !waiting.isEmpty, let result = error.map(Result.failure) ?? take() else { return }
        waiting.removeFirst().complete(result.mapError { $0 })
    }

    /// The connection that waits, if there is one.
    func take() -> Result<TCPConnection, UVError>? {
        socket.accept()?.map { TCPConnection($0, limits: limits) }
    }

    /// Calls `body` whenever a connection waits, or could not be taken, instead of completing an `accept`.
    func onConnection(_ body: @escaping (UVError?) -> Void) {
        socket.onConnection = body
    }

    /// Stops listening, and completes when that is done. Connections that have been accepted go on.
    @discardableResult
    public func close() -> Future<Void> {
        loop.checkThread()
        socket.close()
        let waiting = waiting
        self.waiting = []
        for promise in waiting { promise.cancel() }
        return closedPromise.future
    }
}

@available(
    *, unavailable, message: "A listener belongs to its loop's thread; go there with loop.execute { … }."
)
extension TCPListener: Sendable {}
