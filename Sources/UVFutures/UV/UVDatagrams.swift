internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A socket for datagrams. libuv only reports that datagrams wait, or that the system takes more. This class receives
/// and sends several with one system call, with each version of libuv.
final class UVDatagrams: UVPolledSocket, DatagramTransport {
    /// The most batches received at a time, 128 datagrams in all, so that a flood leaves the loop time for others.
    private static let rounds = 128 / UVDatagramBlock.slots

    let family: CInt
    private(set) var localAddress: SocketAddress?
    private(set) var peerAddress: SocketAddress?
    unowned(unsafe) var receiver: (any DatagramReceiver)?
    let block: UVDatagramBlock
    private var watched: DescriptorEvents = []
    private var keepsLoopAlive = true
    /// Whether a datagram waits that nobody wants yet.
    private var isUnwanted = false
    var waitsToSend = false { didSet { if waitsToSend != oldValue { updateWatch() } } }
    /// The size up to which the kernel takes several datagrams as one. Zero if it does not do that for this socket.
    var maximumSegment = 0
    /// Whether a message may carry control data: its local address, or the size of datagrams that were put together.
    private let hasNotes: Bool
    /// The number of failed receives in a row.
    private var failures = 0

    /// Creates a transport that takes over a socket. If this throws, the caller keeps the descriptor.
    init(
        _ driver: UVLoop, adopting socket: CInt, _ operation: String = "datagrams"
    ) throws(SystemError) {
        let local = try SocketAddress.local(of: socket, operation)
        localAddress = local
        peerAddress = try SocketAddress.peer(of: socket, operation)
        family = local?.family ?? AF_UNIX
        hasNotes = family != AF_UNIX
        block = driver.datagrams ?? UVDatagramBlock()
        try super.init(driver, polling: socket, operation)
        driver.datagrams = block
        block.users += 1
        if hasNotes { setUp() }
        if loop.isObserved { loop.tell(.opened(line)) }
    }

    /// Sets the options of this socket: to report errors of the network and local addresses, to put datagrams together,
    /// and to deliver only what is sent to groups that this socket has joined.
    private func setUp() {
        let (ip, ipv6) = (CInt(IPPROTO_IP), CInt(IPPROTO_IPV6))
        func turnOn(_ option: CInt, _ level: CInt) { _ = setSocketOption(level, option, 1, of: descriptor) }
        if family == AF_INET6 {
            turnOn(IPV6_RECVERR, ipv6)
            turnOn(IPV6_RECVPKTINFO, ipv6)
            _ = setSocketOption(ipv6, CInt(OPTION_IPV6_MULTICAST_ALL), 0, of: descriptor)
        }
        turnOn(IP_RECVERR, ip)
        if localAddress?.isWildcard == true { turnOn(IP_PKTINFO, ip) }
        _ = setSocketOption(ip, IP_MULTICAST_ALL, 0, of: descriptor)
        // With one slot, datagrams are received one by one, and so are not put together either.
        guard UVDatagramBlock.slots > 1 else { return }
        let udp = CInt(IPPROTO_UDP)
        turnOn(CInt(OPTION_UDP_GRO), udp)
        let canSegment = socketOption(CInt(OPTION_UDP_SEGMENT), at: udp, of: descriptor) != nil
        maximumSegment = canSegment ? 65_507 : 0
    }

    func serve(_ receiver: (any DatagramReceiver)?) { unsafe self.receiver = receiver }

    // MARK: Watching

    func wantedChanged() { updateWatch() }

    private func updateWatch() {
        guard !isClosing else { return }
        var events: DescriptorEvents = waitsToSend ? .writable : []
        if let receiver = unsafe receiver, receiver.wanted > 0 { events.insert(.readable) }
        keepLoopAlive(!events.isEmpty)
        // Stopping and restarting a watch takes two system calls. So the watch goes on until a datagram comes that
        // nobody wants yet. Meanwhile it does not keep the loop alive.
        if events.isEmpty, watched == .readable, !isUnwanted { return }
        watch(events)
    }

    private func keepLoopAlive(_ isNeeded: Bool) {
        guard isNeeded != keepsLoopAlive else { return }
        keepsLoopAlive = isNeeded
        unsafe (isNeeded ? uv_ref : uv_unref)(handle)
    }

    private func watch(_ events: DescriptorEvents) {
        isUnwanted = false
        guard events != watched else { return }
        watched = events
        guard !events.isEmpty, !hasLost(descriptor) else {
            unsafe uv_poll_stop(poll)
            return
        }
        unsafe uv_poll_start(poll, events.rawValue) { handle, status, events in
            unsafe UVDatagrams.with(handle!.pointee.data) { $0.isReady(status, events) }
        }
    }

    /// Called by libuv. When the network has reported an error, libuv stops the watch and gives a status.
    private func isReady(_ status: CInt, _ events: CInt) {
        turn {
            if status < 0 {
                watched = []
                takeNetworkErrors()
            } else {
                let events = DescriptorEvents(rawValue: events)
                if events.contains(.readable) { receive() }
                if events.contains(.writable), waitsToSend {
                    waitsToSend = false
                    unsafe receiver?.transportCanSend()
                }
            }
            updateWatch()
        }
    }

    // MARK: Receiving

    private func receive() {
        var header = DatagramHeader(source: peerAddress, destination: localAddress)
        if localAddress?.isWildcard == true { header.destination = nil }
        let withAddress = peerAddress == nil
        for _ in 0..<Self.rounds {
            guard let receiver = unsafe receiver else { return }
            let wanted = receiver.wanted
            guard wanted > 0 else {
                isUnwanted = true
                break
            }
            let count = block.receive(
                from: descriptor, count: wanted, withAddress: withAddress, withNotes: hasNotes)
            guard count > 0 else {
                didNotReceive(-count)
                break
            }
            failures = 0
            for index in 0..<Int(count) {
                block.forEachDatagram(of: index, header, withAddress: withAddress, withNotes: hasNotes) {
                    guard let receiver = unsafe self.receiver, !isClosing else { return false }
                    receiver.transportDidReceive($0, $1)
                    return true
                }
            }
            if count < min(wanted, UVDatagramBlock.slots) { break }
        }
        unsafe receiver?.transportDidReceiveAll()
    }

    private func didNotReceive(_ code: CInt) {
        switch code {
        case 0, EAGAIN, EINTR: failures = 0
        // The kernel gives an error of the network to the next call, whatever that call does.
        case _ where takeNetworkErrors(): failures = 0
        default: tell(SystemError(-code, "receive", local: localAddress, peer: peerAddress))
        }
    }

    private func tell(_ error: SystemError) {
        failures += 1
        // A UNIX socket has no error queue: it reports here what its peers did.
        if [.connectionReset, .connectionRefused].contains(error.code), failures < Self.patience {
            unsafe receiver?.transportDidLearn(of: error)
        } else {
            failures = 0
            unsafe receiver?.transportCannotReceive(because: error)
        }
    }

    /// Passes on the errors that the network has reported. Returns `false` if there are none.
    @discardableResult
    func takeNetworkErrors() -> Bool {
        var hasAny = false
        var address = sockaddr_storage()
        var size = socklen_t()
        // A UNIX socket has no error queue, and would give the next datagram instead.
        while !isClosing, family != AF_UNIX {
            let error = unsafe next_network_error(descriptor, &address, &size)
            guard error != 0 else { break }
            hasAny = true
            let peer = unsafe withUnsafePointer(to: &address) { unsafe SocketAddress($0, size: Int(size)) }
            unsafe receiver?.transportDidLearn(
                of: SystemError(-error, "send", local: localAddress, peer: peer ?? peerAddress))
        }
        // The kernel keeps the last error outside of its error queue, too.
        let last = socketOption(SO_ERROR, of: descriptor) ?? 0
        if last != 0, !hasAny, !isClosing {
            hasAny = true
            unsafe receiver?.transportDidLearn(
                of: SystemError(-last, "send", local: localAddress, peer: peerAddress))
        }
        return hasAny
    }

    // MARK: Closing

    override func abort() {
        unsafe receiver?.transportWillAbort(because: FutureError.shutDown)
        closeSocket(FutureError.shutDown)
    }

    override func hasLostDescriptor() {
        let error = SystemError(.badDescriptor, "receive", local: localAddress)
        unsafe receiver?.transportWillAbort(because: error)
        closeSocket(error)
    }

    override var line: String { "datagrams \(ends)" }

    override func didClose() {
        if loop.isObserved { loop.tell(.closed(line, failure: failure)) }
        block.users -= 1
        if block.users == 0 { driver.datagrams = nil }
        unsafe receiver?.transportDidClose()
    }
}
