internal import FoundationEssentials
internal import SystemIO

extension SimulatedDatagrams: NamedSocket {
    var nameAddress: SocketAddress? { localAddress }

    /// Connects to the socket at `address`: sends to it, and receives only its datagrams. Throws `EPERM` if that socket
    /// has another peer.
    func connect(to address: SocketAddress) throws(SystemError) {
        do throws(SystemError) {
            let peer: SimulatedDatagrams = try host.socket(at: address)
            guard peer.takes(from: self) else { throw SystemError(.notPermitted, "connect") }
            (self.peer, peerAddress) = (peer, peer.localAddress)
        } catch {
            let local = name == nil ? nil : localAddress
            closeSocket(nil)
            throw SystemError(error.code, "connect", local: local, peer: address)
        }
    }

    private func takes(from other: SimulatedDatagrams) -> Bool { peer == nil || peer === other }

    /// Delivers a datagram to the socket with the name `name`, or to the peer. Returns the system's reason for a
    /// refusal, or `nil`.
    func deliver(_ bytes: Data, toName name: SocketAddress?) -> SystemError.Code? {
        do throws(SystemError) {
            let receiver: SimulatedDatagrams =
                if let name { try host.socket(at: name) } else { try connectedPeer() }
            guard receiver.takes(from: self) else { return .notPermitted }
            guard receiver === self || receiver.hasRoom else {
                if peerAddress != nil { receiver.waitingSenders.append(self) }
                return .wouldBlock
            }
            let source = receiver.peerAddress ?? localAddress.flatMap { $0.hasName ? $0 : nil }
            receiver.take(
                Datagram(bytes, DatagramHeader(source: source, destination: receiver.localAddress)))
            return nil
        } catch {
            return error.code
        }
    }

    private func connectedPeer() throws(SystemError) -> SimulatedDatagrams {
        guard let peer else { throw SystemError(.notConnected, "send") }
        guard peer.isClosing else { return peer }
        // Linux forgets the peer, and drops all datagrams that have arrived.
        self.peer = nil
        forgetArrived()
        throw SystemError(.connectionRefused, "send")
    }
}
