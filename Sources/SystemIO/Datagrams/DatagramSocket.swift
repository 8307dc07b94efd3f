internal import ByteStreams
internal import FoundationEssentials
public import Futures

/// A socket for datagrams of any kind: messages that arrive as a whole or not at all, in any order, and perhaps twice.
///
/// A datagram of the network may be lost without an error. ``UDPSocket`` and ``UnixDatagramSocket`` are the two kinds.
///
/// The socket looks for datagrams only while your code waits for one, and then takes up to 16 at once. Others wait in
/// the system, up to ``receiveBufferSize``. Datagrams that do not fit there are lost: ``statistics`` counts them.
///
/// The socket belongs to its loop. While your code waits for datagrams, or datagrams wait to leave, the socket stays
/// alive and keeps ``Futures/EventLoop/run()`` from returning. Otherwise the release of the last reference closes it.
public class DatagramSocket {
    public final var loop: EventLoop { core }
    final let core: LoopCore
    final let transport: any DatagramTransport
    final let limits: DatagramLimits

    /// The address of this end. `nil` for a UNIX socket without a name. If the requested port was 0, the address has
    /// the port that the system picked.
    public var localAddress: SocketAddress? { local }
    final let local: SocketAddress?
    /// The only peer of the socket: it takes datagrams from no other, and sends to no other. `nil` if the socket is
    /// not connected.
    public final let peerAddress: SocketAddress?

    /// Datagrams that have come and that nobody has asked for.
    final var inbound = Fifo<Datagram>()
    final let outbound = OutgoingDatagrams()
    /// The callers that wait for a datagram. They keep the socket alive.
    final let waiting: WaitLine<DatagramSocket>
    /// The iterations that wait without a future.
    final var askers: [ElementSource<Datagram>] = []
    final var reader: DatagramReader?
    /// The state and counts of arrivals. One property, since Swift checks each access to a property at run time.
    final var arrivals = DatagramArrivals()
    final var writablePromise: Promise<Void>?
    /// Whether the queue will be sent at the end of the current callbacks.
    final var isFlushPlanned = false
    /// Whether datagrams that have come are passed on only in the next turn, so that others get their turn.
    final var passesOnLater = false
    /// The socket itself while it has to stay alive.
    final var hold: DatagramSocket?
    private final let closedPromise: Promise<Void>
    private final var unreachableHandler: ((SystemError) -> Void)?

    init(_ transport: any DatagramTransport, _ limits: DatagramLimits) {
        core = transport.loop
        self.transport = transport
        self.limits = limits
        local = transport.localAddress
        peerAddress = transport.peerAddress
        waiting = WaitLine(on: core, name: "datagram socket")
        closedPromise = core.makeSharedPromise()
        waiting.onDeparture = { [unowned self] in demandChanged() }
        transport.serve(self)
    }

    deinit {
        transport.serve(nil)
        if !transport.isClosing {
            core.checkThread()
            transport.closeSocket(nil)
        }
        closedPromise.completeLast()
    }

    /// The address families of the sockets of this class.
    class var families: [CInt] { [] }

    /// The longest datagram that the socket can send, in bytes.
    class var maximumSize: Int { 65_507 }

    /// Returns `target` in the form that the system accepts. Throws an error if the socket cannot send there.
    func reachable(_ target: SocketAddress) throws -> SocketAddress { target }

    /// Returns `source` in the form that the system accepts. Throws an error if the socket cannot send from there.
    func checkedSource(_ source: SocketAddress) throws -> SocketAddress { source }

    /// Returns the system of `loop`. Throws an error if `limits` are out of range, or if `loop` has been shut down.
    static func check(_ limits: DatagramLimits, on loop: EventLoop) throws -> any LoopSystem {
        try loop.core.checkRuns()
        try limits.validate()
        return loop.system
    }

    /// Closes the socket, and completes when it is closed.
    ///
    /// Gives queued datagrams to the system first. Those that it does not take at once are lost, and their futures fail
    /// with ``DatagramError/socketClosed``. Datagrams that nobody has received are lost, too. Pending calls of
    /// `receive` are cancelled, and sequences and `forEachDatagram` end. A second call changes nothing.
    @discardableResult
    public final func close() -> Future<Void> {
        core.checkThread()
        guard !transport.isClosing else { return closedPromise.future }
        flush(isLast: true)
        // Closed before callbacks run: otherwise, they could begin to wait for something that never comes.
        transport.closeSocket(nil)
        end(because: nil)
        return closedPromise.future
    }

    /// Whether the socket can be used.
    public final var isOpen: Bool {
        core.checkThread()
        return !transport.isClosing
    }

    /// Calls `handler` when the network reports that a datagram was not delivered, for example with
    /// ``SystemError/Code/connectionRefused`` if no socket has the port. The error has the address of the peer.
    ///
    /// Such a report comes some time after the datagram was sent, or never, and anybody on the way can forge it. The
    /// socket learns of reports while something waits for datagrams, or when it sends the next one. No call of `send`
    /// fails because of a report. On a connected socket, a report makes a pending `receive` fail, and the handler is
    /// called only if no `receive` is pending. Without a handler, the socket only counts the reports: ``statistics``.
    public final func onUnreachable(_ handler: ((SystemError) -> Void)?) {
        core.checkThread()
        if !transport.isClosing { withExtendedLifetime(exchange(&unreachableHandler, with: handler)) {} }
    }

    /// Ends everything that waits. `error` is `nil` if the user has closed the socket.
    final func end(because error: (any Error)?) {
        outbound.failAll(error ?? DatagramError.socketClosed)
        outbound.completeSettled()
        inbound = Fifo()
        let former = unreachableHandler.take()
        endReceiving(because: error)
        writablePromise.take()?.fail(error ?? DatagramError.socketClosed)
        hold = nil
        withExtendedLifetime(former) {}
    }

    private final func endReceiving(because error: (any Error)?) {
        let (reader, askers) = (self.reader.take(), self.askers)
        self.askers = []
        reader?.end(because: error)
        for asker in askers { asker.end(because: error) }
        for waiter in waiting.takeAll() { waiter.fail(error ?? CancellationError()) }
    }

    /// Called when something has begun or stopped to wait for datagrams.
    final func demandChanged() {
        guard !arrivals.areDelivered else { return }
        transport.wantedChanged()
        let isNeeded = wanted > 0 || !outbound.isEmpty || reader != nil
        hold = isNeeded && !transport.isClosing ? self : nil
    }
}

extension DatagramSocket: DatagramReceiver {
    /// The number of datagrams that are read with one system call, even if only one is awaited.
    private static let ahead = 16

    package final var wanted: Int {
        if let reader { return reader.isBlocked ? 0 : .max }
        return isAwaited && inbound.isEmpty ? Self.ahead : 0
    }

    package final func transportDidReceive(_ bytes: RawSpan, _ header: DatagramHeader) {
        arrivals.add(bytes.byteCount)
        if bytes.byteCount > limits.maxSize || header.isTruncated { return receiveTruncated(bytes, header) }
        take(bytes, header)
    }

    private final func receiveTruncated(_ bytes: RawSpan, _ header: DatagramHeader) {
        arrivals.statistics.truncated += 1
        var header = header
        header.isTruncated = true
        take(bytes.extracting(first: limits.maxSize), header)
    }

    private final func take(_ bytes: RawSpan, _ header: DatagramHeader) {
        if let reader, !reader.isBlocked { return reader.take(bytes, header) }
        let datagram = Datagram(Data(copying: bytes), header)
        guard reader == nil, isAwaited else { return inbound.append(datagram) }
        // Datagrams that have come before go first.
        if inbound.isEmpty, !core.spendsTurn() { return passOn(datagram) }
        inbound.append(datagram)
        passOnLater()
    }

    /// Whether a call of `receive` or an iteration waits for a datagram.
    final var isAwaited: Bool { !askers.isEmpty || !waiting.isEmpty }

    /// Passes a datagram on to an iteration that waits or, without one, to a `receive`.
    final func passOn(_ datagram: Datagram) {
        if askers.isEmpty { return waiting.takeFirst()!.succeed(datagram) }
        askers.removeFirst().deliver(datagram)
    }

    package final func transportDidReceiveAll() {
        arrivals.areDelivered = false
        flush()
        demandChanged()
    }

    package final func transportDidLearn(of error: SystemError) {
        arrivals.statistics.unreachable += 1
        if peerAddress != nil, let waiter = waiting.takeFirst() {
            waiter.fail(error)
            demandChanged()
        } else if let unreachableHandler {
            core.later { unreachableHandler(error) }
        }
    }

    package final func transportCannotReceive(because error: SystemError) {
        endReceiving(because: error)
        demandChanged()
    }

    package final func transportCanSend() { flush() }

    package final func transportWillAbort(because error: any Error) { end(because: error) }

    package final func transportDidClose() { closedPromise.completeLast() }
}

@available(
    *, unavailable, message: "A socket belongs to its loop's thread; go there with loop.execute { … }."
)
extension DatagramSocket: Sendable {}

extension DatagramSocket: CustomStringConvertible {
    /// The socket in one line, such as `UDPSocket (127.0.0.1:7007)`.
    public final var description: String { "\(Self.self) (\(transport.ends))" }
}

extension DatagramSocket: ScopeMember {
    /// The membership of this socket in a scope, as a resource: ends by ``close()``.
    public final var membership: ScopeMembership {
        ScopeMembership(
            ended: closedPromise.future, cancel: { self.close() }, release: { self.close() })
    }
}
