internal import FoundationEssentials
internal import SystemIO

extension VirtualDriver {
    func makeDatagramSocket(
        local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> any DatagramTransport {
        if let peer, peer.isUnix { return try connectDatagrams(to: peer) }
        guard host.hasDescriptor else {
            throw SystemError(.tooManyOpenFiles, peer == nil ? "bind" : "connect", local: local, peer: peer)
        }
        var (address, target) = (local, peer)
        if let local { try host.checkBinding(to: local, sharingPort) }
        if let peer { (address, target) = try host.ends(towards: peer, from: local) }
        if address!.port == 0 { address = address!.with(port: host.freeDatagramPort()) }
        let socket = SimulatedDatagrams(self, local: address, peer: target, sharesPort: sharingPort)
        socket.hasAddressByConnecting = peer != nil && local?.isWildcard ?? true
        host.sockets.datagrams.append(socket)
        return socket
    }

    func makeDatagramSocket(
        atPath path: SocketAddress, permissions: UInt32?, peer: SocketAddress?
    ) throws -> any DatagramTransport {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "bind", peer: path) }
        let name = try host.makeName(path, permissions: permissions, "bind", SimulatedDatagrams.self, self)
        let socket = SimulatedDatagrams(self, local: path, peer: nil, sharesPort: false, name: name)
        host.sockets.named[name] = socket
        if let peer { try socket.connect(to: peer) }
        return socket
    }

    private func connectDatagrams(to peer: SocketAddress) throws(SystemError) -> SimulatedDatagrams {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "connect", peer: peer) }
        let unnamed = SocketAddress(canonicalPath: "")
        let socket = SimulatedDatagrams(self, local: unnamed, peer: nil, sharesPort: false)
        try socket.connect(to: peer)
        return socket
    }
}

extension SimulatedHost {
    private static let broadcast = SocketAddress(canonicalHost: "255.255.255.255", port: 0)
    /// The time after which the network reports that no host has an address.
    private static let unreachableAfter: Duration = .seconds(3)

    fileprivate func checkBinding(to local: SocketAddress, _ sharesPort: Bool) throws(SystemError) {
        let canBind = canBind(to: local) || local.isMulticast
        let isTaken = sockets.datagrams.contains { $0.excludes(local, sharing: sharesPort) }
        if canBind, !isTaken { return }
        throw SystemError(canBind ? .addressInUse : .addressNotAvailable, "bind", local: local)
    }

    /// Returns the addresses of both ends of a socket that connects to `peer`.
    fileprivate func ends(
        towards peer: SocketAddress, from local: SocketAddress?
    ) throws(SystemError) -> (SocketAddress, SocketAddress) {
        let destination = destination(of: peer, from: local)
        guard let own = source(towards: destination, from: local) else {
            throw SystemError(refusal(towards: destination, from: local), "connect", local: local, peer: peer)
        }
        return peer.isIPv6 ? (own.mapped, destination.mapped) : (own, destination)
    }

    fileprivate func freeDatagramPort() -> UInt16 {
        repeat {
            sockets.lastDatagramPort =
                simulation.choices.map { _ in 32_768 + simulation.choices!.network.below(28_232) }
                ?? (sockets.lastDatagramPort < 60_999 ? sockets.lastDatagramPort + 1 : 32_768)
        } while sockets.datagrams.contains { $0.localAddress?.port == sockets.lastDatagramPort }
        return UInt16(sockets.lastDatagramPort)
    }

    func free(_ socket: SimulatedDatagrams) {
        sockets.datagrams.removeAll { $0 === socket }
        if let name = socket.name { sockets.named[name] = nil }
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
        for socket in sockets.datagrams where socket.takes(from: source) {
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
