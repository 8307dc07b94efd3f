internal import FoundationEssentials
internal import Futures

/// One direction of a simulated connection, from the socket that writes to the socket that reads.
final class Wire: SimulatedEvent {
    /// The bytes that may be under way or wait to be read, and the bytes that may wait to be sent. What is sent to a
    /// UNIX socket is at the reader at once.
    private let window: Int
    private let sendBuffer: Int
    /// The bytes that one read returns at most.
    private static let mostToRead = 65_536
    /// The bytes of one piece. A piece arrives as a whole.
    private static let maximumPiece = 16_384

    let number: UInt64
    private let simulation: Simulation
    private let path: Path
    /// The path of the acknowledgements.
    private let wayBack: Path
    // The sockets and the wires refer to each other. A socket leaves when it is closed.
    private var sender: SimulatedSocket?
    /// The socket that reads. `nil` if it has been closed: bytes that arrive then are answered by a reset.
    private var receiver: SimulatedSocket?
    /// What the system of a receiver that has been closed keeps.
    private var remains: PortUser?
    /// The wire in the other direction. `nil` when both sockets have been closed.
    private var opposite: Wire?

    private var queue = PieceQueue()
    private var isScheduled = false
    /// Whether the sender knows nothing of the connection any more: it has reset it, or is gone with its host.
    private var isForgotten = false
    /// Whether a reset has been sent that was not lost, and whether it has arrived.
    private var hasSentReset = false
    private(set) var isReset = false
    private var hasEnd = false
    /// Whether the end has arrived.
    private(set) var isEndDelivered = false
    /// Whether something has arrived whose acknowledgement was lost.
    private var isAcknowledgementLost = false
    /// The event to come keeps it, and it keeps the wire.
    private weak var retransmission: Retransmission?

    private init(
        _ simulation: Simulation, _ kind: SimulatedSocket.Kind, _ path: Path, back wayBack: Path
    ) {
        (window, sendBuffer) = kind == .tcp ? (65_536, 1_048_576) : (212_992, 0)
        self.simulation = simulation
        self.path = path
        self.wayBack = wayBack
        number = simulation.nextNumber()
        path.add(self)
    }

    /// Returns the two directions of a new connection: what `client` sends, and what `server` sends.
    static func pair(
        _ simulation: Simulation, _ client: SimulatedSocket, _ server: SimulatedSocket
    ) -> (Wire, Wire) {
        let there = simulation.routes.path(from: client.host, to: server.host)
        let back = simulation.routes.path(from: server.host, to: client.host)
        let wires = (
            Wire(simulation, client.kind, there, back: back), Wire(simulation, client.kind, back, back: there)
        )
        (wires.0.opposite, wires.1.opposite) = (wires.1, wires.0)
        (wires.0.sender, wires.0.receiver) = (client, server)
        (wires.1.sender, wires.1.receiver) = (server, client)
        return wires
    }

    // MARK: Sending

    /// The number of bytes that the sender may hand over now.
    private var room: Int { max(0, window + sendBuffer - queue.unreadBytes) }

    /// Whether the receiver has been closed.
    var isAbandoned: Bool { receiver == nil }

    /// Takes bytes, as many as there is room for, and returns their number.
    func send(_ data: Data) -> Int {
        let taken = min(data.count, room)
        if taken == data.count, taken <= Wire.maximumPiece, data.startIndex == 0 {
            if taken > 0 { queue.append(.bytes(data)) }
        } else {
            var rest = data.prefix(taken)
            while !rest.isEmpty {
                queue.append(.bytes(Data(rest.prefix(Wire.maximumPiece))))
                rest = rest.dropFirst(Wire.maximumPiece)
            }
        }
        pump()
        return taken
    }

    /// Whether the end has left, after all bytes.
    var isEndSent: Bool { hasEnd && queue.nextToSend == nil }

    func sendEnd() {
        guard !hasEnd else { return }
        hasEnd = true
        queue.append(.end)
        pump()
    }

    /// Sends a reset. What has not arrived is lost.
    func sendReset() {
        isForgotten = true
        hasEnd = true
        guard !hasSentReset else { return }
        dropMissing()
        // A reset that is lost is not repeated by itself. What the peer sends later is answered by another one.
        breakDown()
    }

    /// Lets a reset come to the receiver, of which the sender does not know. Does nothing if the path is cut.
    func breakDown() {
        guard !hasSentReset, path.state != .cut else { return }
        hasSentReset = true
        dropMissing()
        queue.append(.reset)
        pump()
    }

    private func dropMissing() {
        queue.dropMissing(at: simulation.now)
        retransmission = nil
    }

    /// Sends what waits, as far as the window and the path allow.
    private func pump() {
        guard path.isOpen else {
            if queue.nextToSend != nil { stall() }
            return
        }
        schedule(queue.sendAll(within: window) { path.arrival(ofBytes: $0) })
    }

    /// Lets the next pieces arrive at `time`.
    private func schedule(_ time: UInt64?) {
        guard let time, !isScheduled else { return }
        isScheduled = true
        simulation.add(self, at: time)
    }

    // MARK: Arriving

    /// Lets the next pieces arrive.
    func happen() {
        isScheduled = false
        let arrival = queue.arrive(at: simulation.now, hashing: simulation.trace.isOn)
        schedule(queue.nextArrival)
        guard let arrival else { return }
        note(arrival)
        if arrival.hasEnd { isEndDelivered = true }
        if wayBack.state == .cut {
            isAcknowledgementLost = true
            stall()
        }
        guard let receiver else {
            queue.dropArrived()
            if arrival.bytes > 0 || arrival.hasReset { remains?.isGone = true }
            // A socket that was closed in order waits for the end of its peer.
            if arrival.bytes > 0 || arrival.hasEnd && opposite?.isForgotten == true { opposite?.sendReset() }
            return
        }
        if arrival.hasReset { isReset = true }
        receiver.arrived(isReset: isReset)
    }

    /// Takes in what has arrived by now although its event has not happened yet, and tells the receiver nothing.
    func catchUp() {
        guard let arrival = queue.arrive(at: simulation.now, hashing: simulation.trace.isOn) else { return }
        note(arrival)
        if arrival.hasEnd { isEndDelivered = true }
        if arrival.hasReset { isReset = true }
    }

    private func note(_ arrival: Arrival) {
        guard simulation.trace.isOn else { return }
        simulation.trace.note(delivery: arrival.hash ^ number, at: simulation.now) {
            "\(path): \(arrival)"
        }
    }

    // MARK: Reading

    var hasArrivals: Bool { queue.hasArrivals }
    var hasArrivedBytes: Bool { queue.hasArrivedBytes }
    /// Whether the next piece that has arrived is the end.
    var isAtEnd: Bool { queue.isAtEnd }

    /// Removes and returns the next piece that has arrived: bytes that follow each other as one. `most` is the
    /// largest number of bytes to return.
    func take(most: Int = Wire.mostToRead) -> PieceQueue.Content? {
        guard let content = queue.take(most: most) else { return nil }
        sender?.roomChanged()
        pump()
        return content
    }

    /// The bytes that the receiver's system has not acknowledged. An end counts as one byte.
    var unacknowledged: Int { isAcknowledgementLost ? max(1, queue.unreadBytes) : queue.missing }

    // MARK: Ending

    /// Whether the other side answers a probe. A side that knows nothing of the connection resets it.
    func isAnswered() -> Bool {
        guard path.isOpen, wayBack.isOpen else { return false }
        if receiver == nil { opposite?.sendReset() }
        return true
    }

    /// Whether both ends are on one host.
    var isLocal: Bool { path === wayBack }

    /// The reader has been closed, or is gone with its host. Bytes that arrive from now on are answered by a
    /// reset.
    func abandon(leaving remains: PortUser?) {
        receiver = nil
        self.remains = remains
        queue.dropArrived()
        guard let opposite else { return }
        if isReset { opposite.isForgotten = true }
        opposite.sender = nil
        guard opposite.receiver == nil else { return }
        path.remove(self)
        opposite.path.remove(opposite)
        opposite.opposite = nil
        self.opposite = nil
    }

    /// The sender is gone with its host. What has not left is lost.
    func fallSilent() {
        isForgotten = true
        queue.dropUnsent()
        retransmission = nil
    }

    // MARK: Paths that are blocked

    /// The path has been cut or held. What is under way has to be sent again.
    func pathIsBlocked() {
        queue.sendAgain(at: simulation.now)
        // A reset that nobody has sent has dropped bytes already. If it were lost, too, the stream would have a hole.
        if path.state == .cut, isForgotten, queue.dropWaitingReset() { hasSentReset = false }
        if queue.nextToSend != nil { stall() }
    }

    /// The path is open again. What was held goes on at once, and what was lost is sent again later.
    func pathIsOpen(after state: Path.State) { if state == .held { pump() } }

    /// Sends again later what is not acknowledged.
    private func stall() {
        guard retransmission == nil else { return }
        let retransmission = Retransmission(of: self, simulation, within: sender?.userTimeout)
        self.retransmission = retransmission
        retransmission.wait()
    }

    /// Sends again what was lost, if that is possible now. Returns `false` if something stays without an
    /// acknowledgement.
    func sendAgain() -> Bool {
        if path.isOpen { pump() }
        guard path.isOpen, wayBack.isOpen else { return false }
        isAcknowledgementLost = false
        retransmission = nil
        return true
    }

    func isSendingAgain(by retransmission: Retransmission) -> Bool { self.retransmission === retransmission }

    /// Gives up, because nothing was acknowledged for too long.
    func giveUp() {
        dropMissing()
        sender?.timedOut()
    }
}
