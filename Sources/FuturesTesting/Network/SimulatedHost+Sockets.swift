internal import Glibc
internal import SystemIO

/// The sockets of a host, and the ports they are bound to.
struct SocketTable {
    fileprivate var listeners: [SimulatedListener] = []
    var datagrams: [SimulatedDatagrams] = []
    /// The sockets of the UNIX domain that have a name.
    var named: [SocketName: any NamedSocket] = [:]
    var users = PortUsers()
    var lastPort = 32_767
    var lastDatagramPort = 32_767
    /// The number of open handles that use a descriptor.
    var descriptors = 0
}

extension VirtualDriver {
    // MARK: Listening

    /// The network interfaces of each host.
    private static let devices = ["lo", "eth0"]

    func listen(on address: SocketAddress, _ options: ListenOptions) throws(SystemError) -> any ListenerSocket
    {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "listen", local: address) }
        guard options.device.map(Self.devices.contains) ?? true else {
            throw SystemError(-ENODEV, "listen", local: address)
        }
        let asked = address
        let address = asked.port == 0 ? asked.with(port: UInt16(host.freePort())) : asked
        try host.checkBinding(to: address, asked: asked, options, "listen")
        let listener = SimulatedListener(self, address, options)
        host.sockets.listeners.append(listener)
        simulation.trace.note("\(host.name) listens on \(address)", at: simulation.now)
        return listener
    }

    func listen(atPath address: SocketAddress, _ options: ListenOptions) throws -> any ListenerSocket {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "listen", peer: address) }
        let socketName = try host.makeName(
            address, permissions: options.permissions, "listen", SimulatedListener.self, self)
        let listener = SimulatedListener(self, address, options, name: socketName)
        host.sockets.named[socketName] = listener
        simulation.trace.note("\(host.name) listens at \(address)", at: simulation.now)
        return listener
    }

    // MARK: Connecting

    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress
    ) throws(SystemError) -> any ConnectingSocket {
        guard host.hasDescriptor else {
            throw SystemError(.tooManyOpenFiles, "connect", local: address, peer: peer)
        }
        guard var address else { return SimulatedSocket(self, .tcp) }
        try host.checkBinding(to: address, asked: address, ListenOptions(), "bind")
        let socket = SimulatedSocket(self, .tcp)
        if address.port == 0 { address = address.with(port: UInt16(host.freePort())) }
        socket.localAddress = address
        socket.user = host.sockets.users.add(address, shares: true)
        return socket
    }

    func connect(toPath address: SocketAddress) throws(SystemError) -> any SocketTransport {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "connect", peer: address) }
        do throws(SystemError) {
            let listener: SimulatedListener = try host.socket(at: address)
            guard let place = listener.reserve() else { throw SystemError(.wouldBlock, "connect") }
            let client = SimulatedSocket(self, .unix)
            (client.localAddress, client.peerAddress) = (SocketAddress(canonicalPath: ""), address)
            _ = place.take(client, from: client.localAddress!, to: listener.localAddress)
            return client
        } catch {
            throw SystemError(error.code, "connect", peer: address)
        }
    }
}

extension SimulatedHost {
    /// Throws an error if no TCP socket with these options can be bound to `address`, for which the program asked
    /// as `asked`.
    fileprivate func checkBinding(
        to address: SocketAddress, asked: SocketAddress, _ options: ListenOptions, _ call: String
    ) throws(SystemError) {
        let isTaken = sockets.listeners.contains {
            $0.localAddress.port == address.port && Self.overlap($0.localAddress, address)
                && !($0.options.sharingPort && options.sharingPort)
                && ($0.options.device == nil || options.device == nil || $0.options.device == options.device)
        }
        let canBind = canBind(to: address)
        if canBind, !isTaken, !sockets.users.keepOthers(from: address, at: simulation.now) { return }
        throw SystemError(canBind ? .addressInUse : .addressNotAvailable, call, local: asked)
    }

    /// Returns the socket that listens for connections from `peer` to `address`. Sockets that share a port take turns,
    /// or the seed chooses one.
    func listener(at address: SocketAddress, from peer: SocketAddress) -> SimulatedListener? {
        var (found, best, others): (SimulatedListener?, Int, Int) = (nil, -1, 0)
        let device = isOwn(peer) ? "lo" : "eth0"
        let listeners = sockets.listeners.filter { $0.options.device == nil || $0.options.device == device }
        for listener in listeners {
            guard let fit = listener.fit(address), fit >= best else { continue }
            others = fit == best ? others + 1 : 0
            if fit > best { (found, best) = (listener, fit) }
        }
        guard others > 0 else { return found }
        let all = listeners.filter { $0.fit(address) == best }
        return all[simulation.choices?.network.below(all.count) ?? peer.port % all.count]
    }

    func free(_ listener: SimulatedListener) {
        if let name = listener.name { sockets.named[name] = nil }
        sockets.listeners.removeAll { $0 === listener }
    }

    /// Gives a socket that connects to `target` its local address. Returns the address of the other end in the form
    /// that the network uses.
    func place(_ socket: SimulatedSocket, towards target: SocketAddress) throws(SystemError) -> SocketAddress
    {
        let peer = destination(of: target, from: socket.localAddress)
        guard var local = source(towards: peer, from: socket.localAddress) else {
            throw SystemError(refusal(towards: peer, from: socket.localAddress), "connect", peer: target)
        }
        if local.port == 0 {
            local = local.with(port: UInt16(freePort()))
            socket.user = sockets.users.add(local, shares: false)
        }
        socket.localAddress = target.isIPv6 ? local.mapped : local
        guard sockets.users.connect(socket.user!, local, to: peer, at: simulation.now) else {
            throw SystemError(.addressNotAvailable, "connect", peer: target)
        }
        return peer
    }

    // MARK: Ports

    func free(_ socket: SimulatedSocket) {
        guard let user = socket.user.take() else { return }
        sockets.users.close(user, remains: socket.remains != nil, at: simulation.now)
    }

    /// Returns a free port in the range from which systems choose.
    fileprivate func freePort() -> Int {
        repeat {
            sockets.lastPort =
                simulation.choices.map { _ in 32_768 + simulation.choices!.network.below(28_232) }
                ?? (sockets.lastPort < 60_999 ? sockets.lastPort + 1 : 32_768)
        } while sockets.users.isInUse(sockets.lastPort)
            || sockets.listeners.contains { $0.localAddress.port == sockets.lastPort }
        return sockets.lastPort
    }

    // MARK: Descriptors

    /// Whether a descriptor is left for a new handle.
    var hasDescriptor: Bool {
        shortages == 0 && (maxDescriptors == .max || descriptorCount < maxDescriptors)
    }

    /// The number of open descriptors, including those of files.
    var descriptorCount: Int { sockets.descriptors + disk.store.with(\.openFiles.count) }

    /// The number of files and directories that may be open, given the other open descriptors.
    var maxOpenFiles: Int {
        if shortages > 0 { return 0 }
        return maxDescriptors == .max ? .max : maxDescriptors - sockets.descriptors
    }
}
