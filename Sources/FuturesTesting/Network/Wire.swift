internal import FoundationEssentials

/// One direction of a simulated connection, from the socket that writes to the socket that reads.
final class Wire: SimulatedEvent {
    /// The number of bytes that may be in transit or wait to be read, and the number of bytes that may wait to be sent.
    /// Bytes to a UNIX socket reach the reader at once.
    private let window: Int
    private let sendBuffer: Int
    /// The largest number of bytes that one read returns.
    private static let mostToRead = 65_536
    /// The largest number of bytes in one piece. A piece arrives as a whole.
    private static let maximumPiece = 16_384

    let number: UInt64
    private let simulation: Simulation
    private let path: Path
    /// The path of the acknowledgements.
    private let wayBack: Path
    // The sockets and the wires refer to each other. A socket leaves when it is closed.
    private var sender: SimulatedSocket?
    /// The socket that reads. `nil` once it has been closed. Bytes that arrive then are answered with a reset.
    private var receiver: SimulatedSocket?
    /// The remains of a closed receiver that its system keeps.
    private var remains: PortUser?
    /// The wire in the other direction. `nil` when both sockets have been closed.
    private var opposite: Wire?

    private var queue = PieceQueue()
    private var isScheduled = false
    /// Whether the sender no longer knows the connection: it has reset it, or has vanished with its host.
    private var isForgotten = false
    /// Whether a reset has been sent without being lost, and whether it has arrived.
    private var hasSentReset = false
    private(set) var isReset = false
    private var hasEnd = false
    /// Whether the end has arrived.
    private(set) var isEndDelivered = false
    /// The number of bytes that have arrived, but whose acknowledgement was lost. An end counts as one byte.
    private var unheard = 0
    /// The scheduled event retains it, and it retains the wire.
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

    /// Returns the two directions of a new connection: from `client`, and from `server`.
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

    /// The number of bytes that the sender may write now.
    private var room: Int { max(0, window + sendBuffer - queue.unreadBytes) }

    /// Whether the receiver has been closed.
    var isAbandoned: Bool { receiver == nil }

    /// Takes as many bytes as there is room for. Returns how many it took.
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

    /// Whether the end has been sent, after all bytes.
    var isEndSent: Bool { hasEnd && queue.nextToSend == nil }

    func sendEnd() {
        guard !hasEnd else { return }
        hasEnd = true
        queue.append(.end)
        pump()
    }

    /// Sends a reset. Bytes that have not arrived are lost.
    func sendReset() {
        isForgotten = true
        hasEnd = true
        guard !hasSentReset else { return }
        dropMissing()
        // A lost reset is not retransmitted. The next bytes from the peer are answered with another reset.
        breakDown()
    }

    /// Sends the receiver a reset that the sender does not know of. Does nothing if the path is cut.
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

    /// Sends waiting pieces, as far as the window and the path allow.
    private func pump() {
        guard path.isOpen else {
            if queue.nextToSend != nil { stall() }
            return
        }
        schedule(queue.sendAll(within: window) { path.arrival(ofBytes: $0) })
    }

    /// Schedules the next arrival at `time`.
    private func schedule(_ time: UInt64?) {
        guard let time, !isScheduled else { return }
        isScheduled = true
        simulation.add(self, at: time)
    }

    // MARK: Arriving

    /// Delivers the pieces that are due.
    func happen() {
        isScheduled = false
        let arrival = catchUp()
        schedule(queue.nextArrival)
        guard let arrival else { return }
        if wayBack.state == .cut {
            unheard += arrival.bytes + (arrival.hasEnd ? 1 : 0)
            stall()
        }
        guard let receiver else {
            queue.dropArrived()
            if arrival.bytes > 0 || arrival.hasReset { remains?.isGone = true }
            // A socket that was closed in an orderly way waits for the end from its peer.
            if arrival.bytes > 0 || arrival.hasEnd && opposite?.isForgotten == true { opposite?.sendReset() }
            return
        }
        receiver.arrived(isReset: isReset)
    }

    /// Takes the pieces that are due, perhaps before their event has happened, without notifying the receiver.
    @discardableResult
    func catchUp() -> Arrival? {
        let trace = simulation.trace
        guard let arrival = queue.arrive(at: simulation.now, hashing: trace.isOn) else { return nil }
        if trace.isOn {
            trace.note(delivery: arrival.hash ^ number, at: simulation.now) { "\(path): \(arrival)" }
        }
        if arrival.hasEnd { isEndDelivered = true }
        if arrival.hasReset { isReset = true }
        return arrival
    }

    // MARK: Reading

    var hasArrivals: Bool { queue.hasArrivals }
    var hasArrivedBytes: Bool { queue.hasArrivedBytes }
    /// Whether the next piece that has arrived is the end.
    var isAtEnd: Bool { queue.isAtEnd }

    /// Removes and returns the next piece that has arrived. Consecutive bytes are returned as one piece of at most
    /// `most` bytes.
    func take(most: Int = Wire.mostToRead) -> PieceQueue.Content? {
        guard let content = queue.take(most: most) else { return nil }
        sender?.roomChanged()
        pump()
        return content
    }

    /// The number of bytes that the receiver's system has not acknowledged. An end counts as one byte.
    var unacknowledged: Int { unheard + queue.missing }

    // MARK: Ending

    /// Whether the other side answers a probe. A side that does not know the connection resets it.
    func isAnswered() -> Bool {
        guard path.isOpen, wayBack.isOpen else { return false }
        if receiver == nil { opposite?.sendReset() }
        return true
    }

    /// Whether both ends are on one host.
    var isLocal: Bool { path === wayBack }

    /// Called when the reader has been closed, or has vanished with its host. Bytes that arrive from now on are
    /// answered with a reset.
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

    /// Called when the sender has vanished with its host. Bytes that have not left are lost.
    func fallSilent() {
        isForgotten = true
        queue.dropUnsent()
        retransmission = nil
    }

    // MARK: Blocked paths

    /// Called when the path has been cut or held. The pieces in transit must be sent again.
    func pathIsBlocked() {
        queue.sendAgain(at: simulation.now)
        // A waiting reset that the sender does not know of has dropped bytes already. If it were lost, too, the stream
        // would have a gap.
        if path.state == .cut, isForgotten, queue.dropWaitingReset() { hasSentReset = false }
        if queue.nextToSend != nil { stall() }
    }

    /// Called when the path is open again. Held pieces continue at once. Lost pieces are retransmitted later.
    func pathIsOpen(after state: Path.State) { if state == .held { pump() } }

    /// Schedules a retransmission of the unacknowledged pieces.
    private func stall() {
        guard retransmission == nil else { return }
        let retransmission = Retransmission(of: self, simulation, within: sender?.userTimeout)
        self.retransmission = retransmission
        retransmission.wait()
    }

    /// Retransmits what was lost, if that is possible now. Returns `false` if something remains unacknowledged.
    func sendAgain() -> Bool {
        if path.isOpen { pump() }
        guard path.isOpen, wayBack.isOpen else { return false }
        unheard = 0
        retransmission = nil
        return true
    }

    func isSendingAgain(by retransmission: Retransmission) -> Bool { self.retransmission === retransmission }

    /// Gives up, because nothing has been acknowledged for too long.
    func giveUp() {
        dropMissing()
        sender?.timedOut()
    }
}
