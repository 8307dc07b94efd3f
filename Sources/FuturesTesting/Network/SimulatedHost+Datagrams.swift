internal import FoundationEssentials
internal import Futures
internal import SystemIO

/// The datagram sockets of a host.
struct DatagramTable {
    fileprivate var sockets: [SimulatedDatagrams] = []
    fileprivate var lastPort = 32_767
}

extension SimulatedHost {
    private static let broadcast = SocketAddress(canonicalHost: "255.255.255.255", port: 0)
    /// The time after which the network reports that no host has an address.
    private static let unreachableAfter: Duration = .seconds(3)

    // MARK: Creating sockets

    func makeDatagramSocket(
        local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool, _ driver: VirtualDriver
    ) throws(SystemError) -> SimulatedDatagrams {
        if let peer, peer.isUnix { return try connectDatagrams(to: peer, driver) }
        guard takeDescriptor() else {
            throw SystemError(.tooManyOpenFiles, peer == nil ? "bind" : "connect", local: local, peer: peer)
        }
        var (address, target) = (local, peer)
        do throws(SystemError) {
            if let local { try checkBinding(to: local, peer, sharingPort) }
            if let peer { (address, target) = try ends(towards: peer, from: local) }
        } catch {
            descriptorWasClosed()
            throw error
        }
        if address!.port == 0 { address = address!.with(port: freeDatagramPort()) }
        let socket = SimulatedDatagrams(driver, local: address, peer: target, sharesPort: sharingPort)
        socket.hasAddressByConnecting = peer != nil && local?.isWildcard ?? true
        datagrams.sockets.append(socket)
        return socket
    }

    private func checkBinding(
        to local: SocketAddress, _ peer: SocketAddress?, _ sharesPort: Bool
    ) throws(SystemError) {
        let canBind = canBind(to: local) || local.isMulticast
        let isTaken = datagrams.sockets.contains { $0.excludes(local, sharing: sharesPort) }
        if canBind, !isTaken { return }
        throw SystemError(canBind ? .addressInUse : .addressNotAvailable, "bind", local: local, peer: peer)
    }

    /// Returns the addresses of both ends of a socket that connects to `peer`.
    private func ends(
        towards peer: SocketAddress, from local: SocketAddress?
    ) throws(SystemError) -> (SocketAddress, SocketAddress) {
        let destination = destination(of: peer, from: local)
        guard let own = source(towards: destination, from: local) else {
            throw SystemError(refusal(towards: destination, from: local), "connect", local: local, peer: peer)
        }
        return peer.isIPv6 ? (own.mapped, destination.mapped) : (own, destination)
    }

    func makeDatagramSocket(
        atPath path: SocketAddress, permissions: UInt32?, peer: SocketAddress?, _ driver: VirtualDriver
    ) throws -> SimulatedDatagrams {
        guard takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "bind", peer: path) }
        let socket: SimulatedDatagrams
        do {
            let name = try makeName(
                path, permissions: permissions, "bind", SimulatedDatagrams.self, driver)
            socket = SimulatedDatagrams(driver, local: path, peer: nil, sharesPort: false, name: name)
            socketNames[name] = socket
        } catch {
            descriptorWasClosed()
            throw error
        }
        if let peer { try socket.connect(to: peer) }
        return socket
    }

    private func connectDatagrams(
        to peer: SocketAddress, _ driver: VirtualDriver
    ) throws(SystemError) -> SimulatedDatagrams {
        guard takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "connect", peer: peer) }
        let unnamed = SocketAddress(canonicalPath: "")
        let socket = SimulatedDatagrams(driver, local: unnamed, peer: nil, sharesPort: false)
        try socket.connect(to: peer)
        return socket
    }

    private func freeDatagramPort() -> UInt16 {
        repeat {
            datagrams.lastPort =
                simulation.choices.map { _ in 32_768 + simulation.choices!.network.below(28_232) }
                ?? (datagrams.lastPort < 60_999 ? datagrams.lastPort + 1 : 32_768)
        } while datagrams.sockets.contains { $0.localAddress?.port == datagrams.lastPort }
        return UInt16(datagrams.lastPort)
    }

    func free(_ socket: SimulatedDatagrams) {
        datagrams.sockets.removeAll { $0 === socket }
        if let name = socket.name { socketNames[name] = nil }
    }

    // MARK: Sending

    /// Sends a datagram. Returns the system's reason for a refusal, or `nil`.
    func send(
        _ bytes: Data, from source: SocketAddress?, to target: SocketAddress, by socket: SimulatedDatagrams
    ) -> SystemError.Code? {
        let bound = socket.localAddress!
        let target = destination(of: target, from: target.unmapped.isIPv6 ? bound : source ?? bound)
        if let source, source.unmapped.isIPv6 != target.isIPv6,
            target.isIPv6 || self.source(towards: target, from: bound) != nil
        {
            return .invalidArgument
        }
        guard let own = self.source(towards: target, from: source ?? bound) else {
            return refusal(towards: target, from: source ?? bound)
        }
        guard isOwn(own) else { return .invalidArgument }
        let from = own.with(port: UInt16(bound.port))
        let isBroadcast = target.with(port: 0) == Self.broadcast
        if target.isMulticast || isBroadcast {
            if isBroadcast, !socket.isOn(.broadcast) { return .permissionDenied }
            sendToAll(bytes, from: from, to: target, by: socket)
        } else if let peer = hostWith(target) {
            send(bytes, from: from, to: target, peer, by: socket)
        } else if isInWorld {
            simulation.call(after: Self.unreachableAfter) { socket.learn(.hostUnreachable, of: target) }
        } else {
            return .networkUnreachable
        }
        return nil
    }

    private func sendToAll(
        _ bytes: Data, from: SocketAddress, to target: SocketAddress, by socket: SimulatedDatagrams
    ) {
        if socket.isOn(.multicastLoopback) || !target.isMulticast {
            send(bytes, from: from, to: target, self, by: socket)
        }
        guard !target.isMulticast || socket.isOn(.multicastTimeToLive) else { return }
        for host in simulation.hosts where host !== self {
            send(bytes, from: from, to: target, host, by: socket)
        }
    }

    private func send(
        _ bytes: Data, from: SocketAddress, to target: SocketAddress, _ peer: SimulatedHost,
        by socket: SimulatedDatagrams
    ) {
        let path = simulation.routes.path(from: self, to: peer)
        path.send(datagramOf: bytes.count, by: socket) { [simulation] in
            simulation.trace.note(
                delivery: Trace.mix(UInt64(target.port), bytes.bytes), at: simulation.now
            ) { "\(path): a datagram of \(bytes.count) bytes" }
            if peer.arrived(bytes, from: from, to: target) || target.isMulticast { return }
            let back = simulation.routes.path(from: peer, to: socket.host)
            back.send(datagramOf: 0, by: nil) { [self] in
                // Another socket may get the error, if it also has the source address of the datagram.
                takers(of: from, from: target).first?.learn(.connectionRefused, of: target)
            }
        }
    }

    private func isToMany(_ target: SocketAddress) -> Bool {
        target.isMulticast || target.with(port: 0) == Self.broadcast
    }

    /// Returns the sockets that may receive a datagram from `source`. A multicast or broadcast goes to all of them.
    /// Otherwise these are the best matches, of which one receives it.
    private func takers(of target: SocketAddress, from source: SocketAddress) -> [SimulatedDatagrams] {
        let isToMany = isToMany(target)
        var best = -1
        var takers: [SimulatedDatagrams] = []
        for socket in datagrams.sockets where socket.takes(from: source) {
            if target.isMulticast, !socket.isMember(of: target, source: source) { continue }
            guard let fit = socket.fit(to: target) else { continue }
            if fit > best, !isToMany { takers = [] }
            if fit >= best || isToMany { takers.append(socket) }
            best = max(best, fit)
        }
        return takers
    }

    /// Delivers a datagram to the sockets that match. Returns `false` if no socket matches.
    private func arrived(_ bytes: Data, from source: SocketAddress, to target: SocketAddress) -> Bool {
        let isToMany = isToMany(target)
        let takers = takers(of: target, from: source)
        guard !takers.isEmpty else { return isToMany }
        let chosen = simulation.choices?.network.below(takers.count) ?? source.port % takers.count
        for socket in isToMany ? takers[...] : takers[chosen...chosen] {
            let isMapped = socket.localAddress!.isIPv6
            var header = DatagramHeader(
                source: isMapped ? source.mapped : source, destination: isMapped ? target.mapped : target)
            if isToMany {
                // Linux does not report it for IPv6 groups.
                header.localAddress =
                    target.isIPv6
                    ? nil : self.source(towards: source, from: nil)?.with(port: UInt16(target.port))
            }
            socket.take(Datagram(bytes, header))
        }
        return true
    }

}
