internal import Futures
internal import SystemIO

/// A listening socket of a simulated system.
final class SimulatedListener: SimulatedHandle, ListenerSocket, NamedSocket {
    let localAddress: SocketAddress
    let name: SocketName?
    let capacity: Int
    let options: ListenOptions
    private(set) var isWatching = false
    var onReady: () -> Void = {}
    var onEnd: () -> Void = {}
    var onClose: () -> Void = {}
    private var failure: (any Error)?
    /// The connections that wait to be accepted, and the number of handshakes in progress.
    private var waiting: [SimulatedSocket] = []
    private var reserved = 0

    init(
        _ driver: VirtualDriver, _ address: SocketAddress, _ options: ListenOptions, name: SocketName? = nil
    ) {
        (localAddress, self.name) = (address, name)
        capacity = options.backlog + 1
        self.options = options
        super.init(driver)
        if loop.isObserved { loop.tell(.opened(ListeningSocket(address: address))) }
    }

    var nameAddress: SocketAddress? { localAddress }

    /// Returns how well this socket matches `target`. `nil` if it does not. As in Linux, an interface counts as much as the
    /// family of the address, and less than the address.
    func fit(_ target: SocketAddress) -> Int? {
        guard let fit = SimulatedHost.fit(localAddress, target) else { return nil }
        return (fit & 2) * 2 + (fit & 1) + (options.device == nil ? 0 : 1)
    }

    override var line: String {
        "\(ListeningSocket(address: localAddress))\(isWatching ? "" : ", not accepting")"
    }

    // MARK: Incoming connections

    /// Reserves a place in the backlog for a connection. Returns `nil` if the backlog is full.
    func reserve() -> Place? {
        guard waiting.count + reserved < capacity else { return nil }
        reserved += 1
        return Place(listener: self)
    }

    /// A place in the backlog.
    struct Place {
        fileprivate let listener: SimulatedListener

        func giveBack() { listener.reserved -= 1 }

        /// Connects `client`, whose connection then waits to be accepted. Returns `false` if the listener has been
        /// closed.
        func take(_ client: SimulatedSocket, from local: SocketAddress, to address: SocketAddress) -> Bool {
            giveBack()
            guard !listener.isClosing else { return false }
            listener.add(client, from: local, to: address)
            return true
        }
    }

    private func add(_ client: SimulatedSocket, from local: SocketAddress, to address: SocketAddress) {
        let server = SimulatedSocket(driver, client.kind, isOpen: false)
        let mapped = localAddress.isIPv6
        SimulatedSocket.connect(
            client, server, seenFrom: mapped ? local.mapped : local, at: mapped ? address.mapped : address)
        if client.kind == .tcp {
            let user = host.sockets.users.add(address, shares: true)
            server.user = user
            // A connection of one device keeps no socket of all devices from the same two addresses.
            if options.device == nil {
                _ = host.sockets.users.connect(user, address, to: local, at: simulation.now)
            }
        }
        waiting.append(server)
        lookAgain()
    }

    func watch(_ isWatching: Bool) {
        self.isWatching = isWatching
        lookAgain()
    }

    private func lookAgain() { if isWatching, !waiting.isEmpty { lookSoon() } }

    /// Notifies the program that connections are waiting.
    override func look() {
        guard isWatching, !waiting.isEmpty else { return }
        onReady()
        lookAgain()
    }

    func accept() -> Result<any SocketTransport, SystemError>? {
        guard let socket = waiting.first else { return nil }
        guard host.hasDescriptor else {
            return .failure(SystemError(.tooManyOpenFiles, "accept", local: localAddress))
        }
        waiting.removeFirst()
        socket.open()
        return .success(socket)
    }

    // MARK: Closing

    func closeSocket(_ failure: (any Error)?) {
        guard !isClosing else { return }
        self.failure = failure
        host.removeFile(of: self)
        leave(silently: false)
    }

    private func leave(silently: Bool) {
        host.free(self)
        for socket in waiting { socket.refuse(silently: silently) }
        waiting = []
        close()
    }

    func release() -> CInt? {
        fatalError(
            "A listener of a simulated network was asked for its descriptor, but has none. Release listeners of real "
                + "loops only.")
    }

    override func abort() { closeSocket(FutureError.shutDown) }

    override func end() {
        failure = FutureError.shutDown
        leave(silently: false)
    }

    override func vanish() { leave(silently: true) }

    override func didClose() {
        if loop.isObserved { loop.tell(.closed(ListeningSocket(address: localAddress), failure: failure)) }
        onReady = {}
        onEnd = {}
        exchange(&onClose, with: {})()
    }
}
