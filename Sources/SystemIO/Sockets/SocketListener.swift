internal import ByteStreams
public import Futures

/// A listening socket for code that accepts connections one by one. For most servers, ``SocketServer`` is the
/// better choice.
///
/// Connections that have not been accepted wait in the system. ``ListenOptions/backlog`` limits how many wait there.
/// Releasing the last reference closes the listener, unless an `accept` is pending.
public final class SocketListener<Connection: SocketConnection> {
    public var loop: EventLoop { core }
    let core: LoopCore
    /// The address on which the listener listens. If the requested port was 0, the address has the port that the system
    /// picked.
    public let localAddress: SocketAddress
    let acceptor: Acceptor
    private let closedPromise: Promise<Void>
    /// The callers that wait for a connection. They keep the listener alive. `isIterating` is `true` for a
    /// caller of ``connections``, and `false` for a caller of ``accept()``.
    private let waiting: WaitLine<(listener: SocketListener, isIterating: Bool)>
    /// The wait of the task that is first in line, if that task waits without a future.
    private var asking: ElementWait?
    private let shortages = ShortageReport()

    /// Creates a listener. `socket` is of the kind of `Connection`, and the caller has validated `limits`.
    init(_ socket: any ListenerSocket, limits: StreamLimits) {
        core = socket.loop
        localAddress = socket.localAddress
        waiting = WaitLine(on: core, name: "listener")
        acceptor = Acceptor(socket, limits: limits)
        closedPromise = core.makeSharedPromise()
        socket.onClose = { [closedPromise] in closedPromise.completeLast() }
        acceptor.isWanted = { [unowned self] in asking != nil || !waiting.isEmpty }
        acceptor.onConnection = { [unowned self] connection in
            let connection = connection as! Connection
            if let wait = asking.take() {
                wait.deliver(core.succeeded(connection))
            } else if let waiter = waiting.takeFirst() {
                waiter.complete(connection, isIterating: waiter.payload.isIterating)
            }
        }
        acceptor.onShortage = { [unowned self] in shortages.add($0, open: nil, on: loop) }
        acceptor.onFailure = { [unowned self] error in
            if let wait = asking.take() { wait.end(because: error) } else { waiting.takeFirst()?.fail(error) }
            close()
        }
    }

    deinit {
        if acceptor.socket.isClosing { return }
        core.checkThread()
        acceptor.close()
    }

    /// A closure that the listener calls when a connection cannot be accepted, mostly for lack of descriptors
    /// or memory. There is at most one call a minute. The connection waits in the system, and the listener
    /// tries again. If this property is `nil`, the listener prints a warning to standard error.
    public var onShortage: ((SystemError) -> Void)? {
        get { shortages.handler }
        set { withExtendedLifetime(exchange(&shortages.handler, with: newValue)) {} }
    }

    /// Completes with the next connection. Several calls may wait at the same time. Their futures complete in the
    /// order of the calls.
    ///
    /// When the listener is closed, the returned future is cancelled. Fails with ``SystemError`` if the socket no
    /// longer listens. If no descriptors are left, the listener calls ``onShortage``, and the returned future
    /// waits until a descriptor is free.
    /// Binds `accept4` and [`uv_poll_start`](https://docs.libuv.org/en/v1.x/poll.html).
    public func accept() -> Future<Connection> {
        accept(isIterating: false, atEnd: loop.failed(CancellationError()))
    }

    /// A sequence of the connections, in the order in which they come. Use it in a loop such as `for try
    /// await connection in listener.connections`. The sequence ends when the listener is closed.
    ///
    /// While the consumer is busy, further connections wait in the system. The iteration throws ``SystemError`` if
    /// the socket no longer listens. Leaving the `for` loop by `break` does not close the listener or any
    /// connection.
    public var connections: LoopSequence<Connection> {
        LoopSequence(on: loop) { [self] in
            .init(
                asking: self, on: core,
                next: { self.accept(isIterating: true, atEnd: self.loop.succeeded(nil)) })
        }
    }

    private func accept<Value>(isIterating: Bool, atEnd: @autoclosure () -> Future<Value>) -> Future<Value> {
        core.checkThread()
        guard !acceptor.socket.isClosing else { return atEnd() }
        let future = waiting.wait(for: Value.self, (self, isIterating))
        acceptor.resume()
        return future
    }

    /// Stops listening, and completes when the socket is closed. Connections that have been accepted stay open.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        acceptor.close()
        asking.take()?.end()
        for waiter in waiting.takeAll() {
            waiter.complete(Connection?.none, isIterating: waiter.payload.isIterating)
        }
        return closedPromise.future
    }
}

extension SocketListener: ElementAsker {
    package var subject: String? { "a connection to \(localAddress)" }

    package func ask(for wait: ElementWait) -> Bool {
        guard asking == nil, waiting.isEmpty, !acceptor.socket.isClosing, !core.isShutDown else {
            return false
        }
        asking = wait
        acceptor.resume()
        return true
    }

    package func stopAsking(for wait: ElementWait) { if asking === wait { asking = nil } }
}

@available(
    *, unavailable, message: "A listener belongs to its loop's thread; go there with loop.execute { … }."
)
extension SocketListener: Sendable {}

extension SocketListener: ScopeMember {
    /// The membership of this listener in a scope, as a resource: ends by ``close()``.
    public var membership: ScopeMembership {
        ScopeMembership(
            ended: closedPromise.future, cancel: { self.close() }, release: { self.close() })
    }
}
