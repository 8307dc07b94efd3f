internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import Glibc
internal import SystemIO

/// One end of a connection in a simulated network, or a socket that is about to connect.
final class SimulatedSocket: SimulatedHandle {
    enum Kind { case tcp, unix }

    let kind: Kind
    var localAddress: SocketAddress?
    var peerAddress: SocketAddress?
    var place: UInt32 = 0
    var user: PortUser?
    /// The remains of the socket that the system keeps after the program has closed it.
    private(set) var remains: PortUser?
    var noDelay = false
    /// The time after which unacknowledged bytes break the connection, in nanoseconds.
    var userTimeout: UInt64?

    unowned(unsafe) var stream: ByteStream?
    /// The wires to the peer and from the peer. `nil` until the socket is connected.
    var outgoing: Wire?
    var incoming: Wire?
    var attempt: ConnectAttempt?
    var probes: KeepAliveProbes?

    private var isReading = false
    var pending = PendingWrite()
    var isAnswering = false
    /// Whether the reader has reached the end.
    private var hasReachedEnd = false
    private var isBroken = false
    /// Whether this side sent its end before the peer's end arrived.
    var hasEndedFirst = false

    init(_ driver: VirtualDriver, _ kind: Kind, isOpen: Bool = true) {
        self.kind = kind
        super.init(driver, isOpen: isOpen)
    }

    /// Connects two sockets. `peer` is the address of the client, and `listening` the address of the server, both as
    /// the server sees them.
    static func connect(
        _ client: SimulatedSocket, _ server: SimulatedSocket, seenFrom peer: SocketAddress,
        at listening: SocketAddress
    ) {
        let wires = Wire.pair(client.simulation, client, server)
        (client.outgoing, client.incoming) = wires
        (server.outgoing, server.incoming) = (wires.1, wires.0)
        (server.localAddress, server.peerAddress) = (listening, peer)
    }

    override var isConnection: Bool { true }

    override func abort() { close(resetting: true) }

    override func end() { close(resetting: false) }

    override func vanish() {
        outgoing?.fallSilent()
        close()
    }

    override func willClose() {
        attempt.take()?.cancel()
        probes?.isOver = true
        leave()
        host.free(self)
    }

    override var line: String { line(isReading: isReading) }

    override func didClose() { unsafe stream?.transportDidClose() }

    override func look() { if hasArrivals { takeArrivals() } }

    func error(_ code: SystemError.Code, _ operation: String) -> SystemError {
        SystemError(code, operation, local: localAddress, peer: peerAddress)
    }
}

extension SimulatedSocket: SocketTransport {
    var tcpTransport: (any TCPTransport)? { self }
    var hasArrivals: Bool { incoming?.hasArrivals ?? false }

    func serve(_ stream: ByteStream?) {
        unsafe self.stream = stream
        // The reset may have arrived before the connection was accepted.
        if stream != nil, incoming?.isReset == true { lookAgain() }
    }

    func nextNumber() -> UInt64 { number }

    /// On a standalone virtual loop, both ends belong to this process. In a world, the values are the same in each run.
    func readPeerCredentials() throws(SystemError) -> (process: Int32, user: UInt32, group: UInt32) {
        host.isInWorld ? (1, 1000, 1000) : (getpid(), getuid(), getgid())
    }

    func duplicate() throws(SystemError) -> CInt {
        fatalError(
            "release() was called on a connection of a simulated network, which has no descriptor. Release "
                + "connections of real loops only.")
    }

    // MARK: Reading

    func startReading() {
        isReading = true
        lookAgain()
    }

    func stopReading() { isReading = false }

    /// Looks for arrivals in a separate event, like a system that reports again while something is left.
    private func lookAgain() { if hasArrivals { lookSoon() } }

    /// Called when something has arrived.
    func arrived(isReset: Bool) {
        probes?.heardOfPeer()
        guard !isClosing else { return }
        guard !host.standsStill else { return host.postpone { [self] in arrived(isReset: isReset) } }
        driver.serve(takeArrivals)
    }

    /// Reads first, as libuv does. If the socket is not read, its pending write reports a reset.
    private func takeArrivals() {
        if isReading { return receive() }
        guard let incoming, incoming.isReset else { return }
        goOnWriting()
        loop.turn(reset)
    }

    private var hasEndedInBothDirections: Bool {
        incoming?.isEndDelivered == true && outgoing?.isEndSent == true
    }

    /// Receives once, as a read of the system would.
    private func receive() {
        guard let incoming else { return }
        switch incoming.take(most: simulation.mostToRead()) {
        case .bytes(let data):
            loop.turn { unsafe stream?.transportDidRead(data) }
            lookAgain()
        // TCP reports the end first, and then the reset.
        case .end where kind == .unix && incoming.isReset: loop.turn(reset)
        case .end:
            isReading = false
            hasReachedEnd = true
            loop.turn { unsafe stream?.transportDidReachEnd() }
            if incoming.isReset { lookAgain() }
        case .reset: loop.turn(reset)
        case nil: break
        }
    }

    private func reset() { breakDown(error(.connectionReset, "read")) }

    /// Reports to the stream that the connection has broken.
    func breakDown(_ error: SystemError) {
        guard unsafe stream != nil, !isClosing, !isBroken else { return }
        isBroken = true
        isReading = false
        unsafe stream?.transportDidFail(error)
    }

    func takeUndelivered() -> [Data] {
        incoming?.catchUp()
        var blocks: [Data] = []
        while incoming?.hasArrivedBytes == true, case .bytes(let data)? = incoming?.take() {
            blocks.append(data)
        }
        return blocks
    }

    var losesIfNotHeardOut: Bool { !hasReachedEnd && incoming?.isAtEnd != true }

    // MARK: Closing

    func close(resetting: Bool) {
        guard !isClosing else { return }
        if let incoming, let outgoing, !incoming.isReset {
            let losesBytes = incoming.hasArrivedBytes
            // TCP has closed the connection once both sides have ended. Then there is nothing to reset.
            let canReset = kind == .unix || !hasEndedInBothDirections
            if canReset, losesBytes || resetting && kind == .tcp {
                outgoing.sendReset()
            } else {
                if endsFirst { remains = user }
                outgoing.sendEnd()
            }
        }
        close()
    }

    var endsFirst: Bool { hasEndedFirst || incoming?.isEndDelivered == false }

    /// Disconnects the socket from its wires.
    fileprivate func leave() {
        isReading = false
        pending.drop()
        incoming?.abandon(leaving: remains)
    }

    /// Ends a connection that the program has never seen, with a reset or silently.
    func refuse(silently: Bool) {
        if silently { outgoing?.fallSilent() } else { outgoing?.sendReset() }
        leave()
        host.free(self)
    }
}
