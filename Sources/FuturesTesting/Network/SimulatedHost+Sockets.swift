internal import Futures
internal import UVFutures

/// The sockets of a host: which are bound to which port or path.
struct SocketTable {
    fileprivate var listeners: [SimulatedListener] = []
    /// The listeners of the UNIX domain, by their paths.
    fileprivate var paths: [SocketAddress: SimulatedListener] = [:]
    /// The ports that are in use by sockets that connect, and the numbers of these sockets.
    fileprivate var ports: [Int: UInt64] = [:]
    fileprivate var lastPort = 32_767
    fileprivate var lastPath = 0
    fileprivate var descriptors = 0
}

extension SimulatedHost {
    // MARK: Addresses

    func isOwn(_ address: SocketAddress) -> Bool { address.isLoopback || has(address) }

    private func has(_ address: SocketAddress) -> Bool { ownAddresses.contains(address.with(port: 0)) }

    /// Returns the address that a program means by `target`.
    func destination(of target: SocketAddress) -> SocketAddress {
        guard target.isWildcard else { return target.unmapped }
        return SocketAddress(
            canonicalHost: target.isIPv6 ? "::1" : "127.0.0.1", port: UInt16(target.port))
    }

    /// Returns the host that has `address`. `nil` if there is none.
    func hostWith(_ address: SocketAddress) -> SimulatedHost? {
        isOwn(address) ? self : simulation.hosts.first { $0.has(address) }
    }

    /// Returns the address of the end of `socket`, which connects to `peer`. `nil` if the host has no address
    /// of that kind.
    func localAddress(of socket: SimulatedSocket, towards peer: SocketAddress) -> SocketAddress? {
        let bound = socket.localAddress
        if let bound, !bound.isWildcard { return bound }
        let port = UInt16(bound?.port ?? takePort(for: socket))
        if isOwn(peer) { return peer.with(port: port) }
        return ownAddresses.first { $0.isIPv6 == peer.isIPv6 }?.with(port: port)
    }

    // MARK: Listening

    func listen(
        on address: SocketAddress, backlog: CInt, sharingPort: Bool, _ driver: VirtualDriver
    ) throws(UVError) -> SimulatedListener {
        guard isOwn(address) || address.isWildcard else {
            throw UVError(.addressNotAvailable, "listen", local: address)
        }
        guard takeDescriptor() else { throw UVError(.tooManyOpenFiles, "listen", local: address) }
        var address = address
        if address.port == 0 { address = address.with(port: UInt16(freePort())) }
        let isTaken = sockets.listeners.contains {
            $0.localAddress.port == address.port && Self.overlap($0.localAddress, address)
                && !($0.sharesPort && sharingPort)
        }
        guard !isTaken else {
            descriptorWasClosed()
            throw UVError(.addressInUse, "listen", local: address)
        }
        let listener = SimulatedListener(driver, address, backlog: backlog, sharesPort: sharingPort)
        sockets.listeners.append(listener)
        simulation.trace.note("\(name) listens on \(address)", at: simulation.now)
        return listener
    }

    static func overlap(_ a: SocketAddress, _ b: SocketAddress) -> Bool {
        let isSame = a.with(port: 0) == b.with(port: 0)
        if isSame || a.isIPv6 && a.isWildcard || b.isIPv6 && b.isWildcard { return true }
        return a.isIPv6 == b.isIPv6 && (a.isWildcard || b.isWildcard)
    }

    /// Returns the socket that listens for connections from `peer` to `address`. Sockets that share a port
    /// have the connections in turn, or as the seed chooses.
    func listener(at address: SocketAddress, from peer: SocketAddress) -> SimulatedListener? {
        let all = sockets.listeners.filter { listener in
            let own = listener.localAddress
            if own == address { return true }
            return own.port == address.port && own.isWildcard && (own.isIPv6 || !address.isIPv6)
        }
        guard all.count > 1 else { return all.first }
        return all[simulation.choices?.network.below(all.count) ?? peer.port % all.count]
    }

    func listen(
        atPath address: SocketAddress, backlog: CInt, _ driver: VirtualDriver
    ) throws(UVError) -> SimulatedListener {
        guard sockets.paths[address] == nil else {
            throw UVError(.addressInUse, "listen", local: address)
        }
        guard takeDescriptor() else { throw UVError(.tooManyOpenFiles, "listen", peer: address) }
        let listener = SimulatedListener(driver, address, backlog: backlog)
        sockets.paths[address] = listener
        simulation.trace.note("\(name) listens at \(address)", at: simulation.now)
        return listener
    }

    func free(_ listener: SimulatedListener) {
        sockets.listeners.removeAll { $0 === listener }
        sockets.paths[listener.localAddress] = nil
    }

    // MARK: Connecting

    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress, _ driver: VirtualDriver
    ) throws(UVError) -> SimulatedSocket {
        guard takeDescriptor() else {
            throw UVError(.tooManyOpenFiles, "connect", local: address, peer: peer)
        }
        guard var address else { return SimulatedSocket(driver, .tcp) }
        let code: UVError.Code? =
            !isOwn(address) && !address.isWildcard
            ? .addressNotAvailable
            : sockets.listeners.contains { $0.localAddress.port == address.port && address.port > 0 }
                ? .addressInUse : nil
        if let code {
            descriptorWasClosed()
            throw UVError(code, "bind", local: address)
        }
        let socket = SimulatedSocket(driver, .tcp)
        if address.port == 0 { address = address.with(port: UInt16(takePort(for: socket))) }
        socket.localAddress = address
        return socket
    }

    func connect(toPath address: SocketAddress, _ driver: VirtualDriver) throws(UVError) -> SimulatedSocket {
        guard let listener = sockets.paths[address] else {
            let isAbstract = address.isAbstract
            throw UVError(isAbstract ? .connectionRefused : .notFound, "connect", peer: address)
        }
        guard let place = listener.reserve() else { throw UVError(.wouldBlock, "connect", peer: address) }
        guard takeDescriptor() else {
            place.giveBack()
            throw UVError(.tooManyOpenFiles, "connect", peer: address)
        }
        let client = SimulatedSocket(driver, .unix)
        _ = place.take(client, from: SocketAddress(canonicalPath: ""), to: address)
        return client
    }

    // MARK: Ports

    func free(_ socket: SimulatedSocket) {
        guard let port = socket.localAddress?.port, sockets.ports[port] == socket.number else { return }
        sockets.ports[port] = nil
    }

    private func takePort(for socket: SimulatedSocket) -> Int {
        let port = freePort()
        sockets.ports[port] = socket.number
        return port
    }

    /// Returns a port of the range from which systems choose.
    private func freePort() -> Int {
        repeat {
            sockets.lastPort =
                simulation.choices.map { _ in 32_768 + simulation.choices!.network.below(28_232) }
                ?? (sockets.lastPort < 60_999 ? sockets.lastPort + 1 : 32_768)
        } while sockets.ports[sockets.lastPort] != nil
            || sockets.listeners.contains { $0.localAddress.port == sockets.lastPort }
        return sockets.lastPort
    }

    // MARK: Descriptors

    /// Takes a descriptor for a new socket. Returns `false` if none is left.
    func takeDescriptor() -> Bool {
        guard shortages == 0, sockets.descriptors < maxDescriptors else { return false }
        sockets.descriptors += 1
        return true
    }

    func descriptorWasClosed() { sockets.descriptors -= 1 }
}
