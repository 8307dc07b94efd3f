internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

extension UVDatagrams {
    /// Makes a socket that is bound to `local`, if that is not `nil`, and connected to `peer`, if that is not `nil`.
    /// At least one of them is needed.
    static func made(
        _ driver: UVLoop, local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> UVDatagrams {
        let operation = peer == nil ? "bind" : "connect"
        let descriptor = try makeSocket(SOCK_DGRAM, local: local, peer: peer, operation)
        do throws(SystemError) {
            if let local, !bindSocket(descriptor, to: local, sharingPort: sharingPort) {
                throw SystemError(-errno, "bind")
            }
            if let peer, unsafe peer.withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) != 0 {
                throw SystemError(-errno, "connect")
            }
            return try UVDatagrams(driver, adopting: descriptor, operation)
        } catch {
            Glibc.close(descriptor)
            throw SystemError(
                error.code, error.operation, local: local, peer: error.operation == "bind" ? nil : peer)
        }
    }

    // MARK: Options

    func set(_ option: DatagramOption, to value: Int) throws(SystemError) {
        let status: CInt
        if option == .multicastInterface {
            status = set_multicast_interface(try open("set option"), family, UInt32(value))
        } else {
            let (level, name) = place(of: option)
            status = setSocketOption(level, name, CInt(value), of: try open("set option")) == 0 ? 0 : -errno
        }
        if status != 0 { throw SystemError(status, "set option", local: localAddress) }
    }

    func value(of option: DatagramOption) throws(SystemError) -> Int {
        let (level, name) = place(of: option)
        guard let value = socketOption(name, at: level, of: try open("read option")) else {
            throw SystemError(-errno, "read option", local: localAddress)
        }
        return Int(value)
    }

    private func open(_ operation: String) throws(SystemError) -> CInt {
        if isClosing { throw SystemError(.badDescriptor, operation, local: localAddress) }
        return descriptor
    }

    private func place(of option: DatagramOption) -> (level: CInt, name: CInt) {
        let (ip, ipv6) = (CInt(IPPROTO_IP), CInt(IPPROTO_IPV6))
        let isIPv6 = family == AF_INET6
        return switch option {
        case .broadcast: (SOL_SOCKET, SO_BROADCAST)
        case .receiveBuffer: (SOL_SOCKET, SO_RCVBUF)
        case .sendBuffer: (SOL_SOCKET, SO_SNDBUF)
        case .timeToLive: isIPv6 ? (ipv6, IPV6_UNICAST_HOPS) : (ip, IP_TTL)
        case .multicastTimeToLive: isIPv6 ? (ipv6, IPV6_MULTICAST_HOPS) : (ip, IP_MULTICAST_TTL)
        case .multicastLoopback: isIPv6 ? (ipv6, IPV6_MULTICAST_LOOP) : (ip, IP_MULTICAST_LOOP)
        case .multicastInterface: isIPv6 ? (ipv6, IPV6_MULTICAST_IF) : (ip, IP_MULTICAST_IF)
        }
    }

    func changeMembership(
        of group: SocketAddress, interface: UInt32, source: SocketAddress?, joins: Bool
    ) throws(SystemError) {
        let operation = joins ? "join" : "leave"
        let socket = try open(operation)
        let status = unsafe group.withSocketAddress { group, size in
            guard let source else {
                return unsafe change_membership(socket, group, size, nil, interface, joins)
            }
            return unsafe source.withSocketAddress { source, _ in
                unsafe change_membership(socket, group, size, source, interface, joins)
            }
        }
        if status != 0 { throw SystemError(status, operation, local: localAddress, peer: group) }
    }

    var dropped: Int { isClosing ? 0 : Int(dropped_datagrams(descriptor)) }
}
