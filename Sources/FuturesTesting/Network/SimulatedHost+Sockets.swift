internal import CFuturesSystem
internal import Futures
internal import Glibc
internal import SystemIO

/// The sockets of a host, by the ports they are bound to.
struct SocketTable {
    fileprivate var listeners: [SimulatedListener] = []
    var users = PortUsers()
    fileprivate var lastPort = 32_767
    fileprivate var descriptors = 0
}

extension SimulatedHost {
    // MARK: Listening

    /// The network interfaces of each host.
    private static let devices = ["lo", "eth0"]

    func listen(
        on address: SocketAddress, _ options: ListenOptions, _ driver: VirtualDriver
    ) throws(SystemError) -> SimulatedListener {
        guard takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "listen", local: address) }
        guard options.device.map(Self.devices.contains) ?? true else {
            descriptorWasClosed()
            throw SystemError(-ENODEV, "listen", local: address)
        }
        let asked = address
        let address = asked.port == 0 ? asked.with(port: UInt16(freePort())) : asked
        let isTaken = sockets.listeners.contains {
            $0.localAddress.port == address.port && Self.overlap($0.localAddress, address)
                && !($0.options.sharingPort && options.sharingPort)
                && ($0.options.device == nil || options.device == nil || $0.options.device == options.device)
        }
        let canBind = canBind(to: address)
        guard canBind, !isTaken, !sockets.users.keepOthers(from: address, at: simulation.now) else {
            descriptorWasClosed()
            throw SystemError(canBind ? .addressInUse : .addressNotAvailable, "listen", local: asked)
        }
        let listener = SimulatedListener(driver, address, options)
        sockets.listeners.append(listener)
        simulation.trace.note("\(name) listens on \(address)", at: simulation.now)
        return listener
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

    func listen(
        atPath address: SocketAddress, _ options: ListenOptions, _ driver: VirtualDriver
    ) throws -> SimulatedListener {
        guard takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "listen", peer: address) }
        do {
            let socketName = try makeName(
                address, permissions: options.permissions, "listen", SimulatedListener.self, driver)
            let listener = SimulatedListener(driver, address, options, name: socketName)
            socketNames[socketName] = listener
            simulation.trace.note("\(name) listens at \(address)", at: simulation.now)
            return listener
        } catch {
            descriptorWasClosed()
            throw error
        }
    }

    func free(_ listener: SimulatedListener) {
        if let name = listener.name { socketNames[name] = nil }
        sockets.listeners.removeAll { $0 === listener }
    }

    // MARK: Connecting

    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress, _ driver: VirtualDriver
    ) throws(SystemError) -> SimulatedSocket {
        guard takeDescriptor() else {
            throw SystemError(.tooManyOpenFiles, "connect", local: address, peer: peer)
        }
        guard var address else { return SimulatedSocket(driver, .tcp) }
        let isTaken = sockets.listeners.contains {
            $0.localAddress.port == address.port && Self.overlap($0.localAddress, address)
        }
        guard canBind(to: address), !isTaken, !sockets.users.keepOthers(from: address, at: simulation.now)
        else {
            descriptorWasClosed()
            throw SystemError(
                canBind(to: address) ? .addressInUse : .addressNotAvailable, "bind", local: address)
        }
        let socket = SimulatedSocket(driver, .tcp)
        if address.port == 0 { address = address.with(port: UInt16(freePort())) }
        socket.localAddress = address
        socket.user = sockets.users.add(address, shares: true)
        return socket
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

    func connect(toPath address: SocketAddress, _ driver: VirtualDriver) throws(SystemError)
        -> SimulatedSocket
    {
        guard takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "connect", peer: address) }
        do throws(SystemError) {
            let listener: SimulatedListener = try socket(at: address)
            guard let place = listener.reserve() else { throw SystemError(.wouldBlock, "connect") }
            let client = SimulatedSocket(driver, .unix)
            (client.localAddress, client.peerAddress) = (SocketAddress(canonicalPath: ""), address)
            _ = place.take(client, from: client.localAddress!, to: listener.localAddress)
            return client
        } catch {
            descriptorWasClosed()
            throw SystemError(error.code, "connect", peer: address)
        }
    }

    // MARK: Ports

    func free(_ socket: SimulatedSocket) {
        guard let user = socket.user.take() else { return }
        sockets.users.close(user, remains: socket.remains != nil, at: simulation.now)
    }

    /// Returns a free port in the range from which systems choose.
    private func freePort() -> Int {
        repeat {
            sockets.lastPort =
                simulation.choices.map { _ in 32_768 + simulation.choices!.network.below(28_232) }
                ?? (sockets.lastPort < 60_999 ? sockets.lastPort + 1 : 32_768)
        } while sockets.users.isInUse(sockets.lastPort)
            || sockets.listeners.contains { $0.localAddress.port == sockets.lastPort }
        return sockets.lastPort
    }

    // MARK: Descriptors

    /// Takes a descriptor for a new handle. Returns `false` if none is left.
    func takeDescriptor() -> Bool {
        guard shortages == 0, maxDescriptors == .max || descriptorCount < maxDescriptors else { return false }
        sockets.descriptors += 1
        return true
    }

    /// The number of open descriptors, including those of files.
    var descriptorCount: Int { sockets.descriptors + disk.store.with(\.openFiles.count) }

    /// The number of files and directories that may be open, given the other open descriptors.
    var maxOpenFiles: Int {
        if shortages > 0 { return 0 }
        return maxDescriptors == .max ? .max : maxDescriptors - sockets.descriptors
    }

    func descriptorWasClosed() { sockets.descriptors -= 1 }
}
