internal import FoundationEssentials
internal import Futures
internal import SystemIO

/// A datagram socket of a simulated system: of UDP or of the UNIX domain.
final class SimulatedDatagrams: SimulatedHandle, DatagramTransport {
    /// The size of the buffers in bytes, and the overhead of each datagram, as Linux counts them.
    private static let buffer = 212_992
    private static let overhead = 768
    /// The number of datagrams that may wait for a reader in the UNIX domain.
    private static let queueLength = 10
    private static let rounds = 32

    let localAddress: SocketAddress?
    var peerAddress: SocketAddress?
    let sharesPort: Bool
    let name: SocketName?
    /// The peer of a connected socket of the UNIX domain. It stays the peer whatever happens to its path.
    var peer: SimulatedDatagrams?
    /// Whether the socket was unbound or bound to the wildcard address before it was connected.
    var hasAddressByConnecting = false
    private unowned(unsafe) var receiver: (any DatagramReceiver)?

    private var arrived: [Datagram] = []
    private var arrivedLoad = 0
    /// The network errors that have not been reported yet.
    private var errors: [SystemError] = []
    /// Whether the loop watches for datagrams. As with libuv, the loop goes on watching when nobody wants datagrams any
    /// more, until one arrives.
    private var isWatched = false
    private(set) var dropped = 0
    /// The number of bytes that have not left the host.
    private var leavingBytes = 0
    private var waitsToSend = false
    /// The sockets of the UNIX domain that wait for room in this one.
    var waitingSenders: [SimulatedDatagrams] = []
    private var options: [DatagramOption: Int] = [
        .broadcast: 0, .timeToLive: 64, .multicastTimeToLive: 1, .multicastLoopback: 1,
        .multicastInterface: 0, .receiveBuffer: buffer, .sendBuffer: buffer,
    ]
    /// The joined groups, each with its sources. A source `nil` stands for all sources.
    private var groups: [SocketAddress: [SocketAddress?]] = [:]
    private var failure: (any Error)?

    init(
        _ driver: VirtualDriver, local: SocketAddress?, peer: SocketAddress?, sharesPort: Bool,
        name: SocketName? = nil
    ) {
        (localAddress, self.name) = (local, name)
        peerAddress = peer
        self.sharesPort = sharesPort
        super.init(driver)
        if loop.isObserved { loop.tell(.opened(line)) }
    }

    func serve(_ receiver: (any DatagramReceiver)?) { unsafe self.receiver = receiver }

    override var line: String { "datagrams \(ends)" }

    // MARK: Receiving

    func wantedChanged() {
        guard let wanted = unsafe receiver?.wanted, wanted > 0 else { return }
        isWatched = true
        if !arrived.isEmpty || !errors.isEmpty { lookSoon() }
    }

    /// Whether the socket accepts datagrams from `source`.
    func takes(from source: SocketAddress) -> Bool {
        peerAddress.map { $0.unmapped == source } ?? true
    }

    /// Returns how well the socket matches `target`, or `nil` if it does not match. A connected socket takes precedence
    /// over unconnected ones.
    func fit(to target: SocketAddress) -> Int? {
        localAddress.flatMap { SimulatedHost.fit($0, target) }.map { $0 + (peerAddress == nil ? 0 : 4) }
    }

    /// Whether this socket prevents another one from binding to `address`.
    func excludes(_ address: SocketAddress, sharing: Bool) -> Bool {
        guard let localAddress, localAddress.port == address.port else { return false }
        let keeps = hasAddressByConnecting ? SimulatedHost.keeps : SimulatedHost.overlap
        return keeps(localAddress, address) && !(sharesPort && sharing)
    }

    func isMember(of group: SocketAddress, source: SocketAddress) -> Bool {
        guard let sources = groups[group.with(port: 0)] else { return false }
        return sources.contains(nil) || sources.contains(source.with(port: 0))
    }

    /// Whether the queue of a socket of the UNIX domain has room.
    var hasRoom: Bool { arrived.count <= Self.queueLength }

    /// Queues a datagram that has arrived, or drops it if the buffer is full.
    func take(_ datagram: Datagram) {
        let load = datagram.bytes.count + Self.overhead
        guard localAddress?.isUnix == true || arrivedLoad + load <= options[.receiveBuffer]! else {
            dropped += 1
            return
        }
        arrivedLoad += load
        arrived.append(datagram)
        lookSoon()
    }

    func forgetArrived() { (arrived, arrivedLoad) = ([], 0) }

    override func look() { loop.turn { receive() } }

    private func receive() {
        guard isWatched, !errors.isEmpty || !arrived.isEmpty else { return }
        tellErrors()
        guard let wanted = unsafe receiver?.wanted, wanted > 0 else {
            isWatched = false
            return
        }
        if arrived.isEmpty { return }
        let count = min(wanted, Self.rounds, arrived.count)
        let batch = arrived[..<count]
        arrived.removeFirst(count)
        for datagram in batch {
            arrivedLoad -= datagram.bytes.count + Self.overhead
            guard !isClosing else { return }
            unsafe receiver?.transportDidReceive(datagram.bytes.bytes, datagram.header)
        }
        unsafe receiver?.transportDidReceiveAll()
        if !arrived.isEmpty { lookSoon() }
        for sender in exchange(&waitingSenders, with: []) { sender.canSendSoon() }
    }

    /// Records the error that a datagram to `peer` was not delivered.
    func learn(_ code: SystemError.Code, of peer: SocketAddress) {
        errors.append(error(code, localAddress?.isIPv6 == true ? peer.mapped : peer, from: localAddress))
        if isWatched { lookSoon() }
    }

    private func tellErrors() {
        for error in exchange(&errors, with: []) where !isClosing {
            unsafe receiver?.transportDidLearn(of: error)
        }
    }

    // MARK: Sending

    func flush(_ queue: OutgoingDatagrams, isLast: Bool) {
        guard !waitsToSend || isLast else { return }
        // The system returns these errors before it takes a datagram.
        tellErrors()
        while !queue.isEmpty {
            let entry = queue[0]
            let bytes = Data(queue.bytes[entry.bytes])
            let target = (entry.target ?? peerAddress)!
            let canSend =
                target.isUnix
                ? true : leavingBytes == 0 || leavingBytes + bytes.count <= options[.sendBuffer]!
            guard canSend else {
                waitsToSend = true
                return
            }
            let refusal =
                target.isUnix
                ? deliver(bytes, toName: entry.target)
                : host.send(bytes, from: entry.source, to: target, by: self)
            switch refusal {
            case nil: queue.didSend(1)
            case .wouldBlock? where peerAddress != nil:
                waitsToSend = true
                return
            case let code?: queue.didFail(error(code, target, from: entry.source ?? localAddress))
            }
        }
    }

    private func error(_ code: SystemError.Code, _ peer: SocketAddress, from local: SocketAddress?)
        -> SystemError
    {
        SystemError(code, "send", local: local, peer: peer)
    }

    /// Counts bytes until they leave the host, at `time`.
    func bytesLeave(_ count: Int, at time: UInt64) {
        guard time > simulation.now else { return }
        leavingBytes += count
        simulation.call(after: .nanoseconds(Int64(time - simulation.now))) { [self] in
            leavingBytes -= count
            canSendAgain()
        }
    }

    /// Reports in a separate event that the system takes more, since the loop may be in a turn.
    private func canSendSoon() { simulation.call { [self] in canSendAgain() } }

    private func canSendAgain() {
        guard waitsToSend else { return }
        whenAwake { [self] in
            guard waitsToSend, !isClosing else { return }
            waitsToSend = false
            driver.deliver { unsafe receiver?.transportCanSend() }
        }
    }

    // MARK: Options

    func set(_ option: DatagramOption, to value: Int) throws(SystemError) {
        try checkOpen("set option")
        // Same as Linux.
        let isBuffer = option == .receiveBuffer || option == .sendBuffer
        options[option] = isBuffer ? max(2304, 2 * min(value, Self.buffer)) : value
    }

    func value(of option: DatagramOption) throws(SystemError) -> Int {
        try checkOpen("read option")
        return options[option]!
    }

    func isOn(_ option: DatagramOption) -> Bool { options[option] != 0 }

    private func checkOpen(_ operation: String) throws(SystemError) {
        if isClosing { throw SystemError(.badDescriptor, operation, local: localAddress) }
    }

    func changeMembership(
        of group: SocketAddress, interface: UInt32, source: SocketAddress?, joins: Bool
    ) throws(SystemError) {
        let operation = joins ? "join" : "leave"
        try checkOpen(operation)
        var sources = groups[group] ?? []
        let index = sources.firstIndex(of: source)
        guard joins == (index == nil) else {
            throw SystemError(
                joins ? .addressInUse : .addressNotAvailable, operation, local: localAddress, peer: group)
        }
        if let index { sources.remove(at: index) } else { sources.append(source) }
        groups[group] = sources.isEmpty ? nil : sources
    }

    // MARK: Closing

    func closeSocket(_ failure: (any Error)?) {
        guard !isClosing else { return }
        host.removeFile(of: self)
        self.failure = failure
        close()
    }

    func release() -> CInt? {
        fatalError(
            "release() was called on a socket of a simulated network, which has no descriptor. Release sockets of "
                + "real loops only.")
    }

    override func abort() {
        guard !isClosing else { return }
        unsafe receiver?.transportWillAbort(because: FutureError.shutDown)
        closeSocket(FutureError.shutDown)
    }

    override func end() {
        guard !isClosing else { return }
        unsafe receiver?.transportWillAbort(because: FutureError.shutDown)
        failure = FutureError.shutDown
        close()
    }

    override func willClose() {
        (arrived, errors, peer) = ([], [], nil)
        host.free(self)
        for sender in waitingSenders { sender.canSendSoon() }
        waitingSenders = []
    }

    override func didClose() {
        if loop.isObserved { loop.tell(.closed(line, failure: failure)) }
        unsafe receiver?.transportDidClose()
    }
}
