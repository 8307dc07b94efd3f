internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

extension UVDatagrams {
    /// Makes a socket that is bound to `local`, if that is not `nil`, and connected to `peer`, if that is not `nil`.
    /// At least one of them is needed.
    static func made(
        _ driver: UVLoop, local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> UVDatagrams {
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let operation = peer == nil ? "bind" : "connect"
        func failure(_ operation: String) -> SystemError {
            SystemError(-errno, operation, local: local, peer: peer)
        }
        let descriptor = StandardDescriptors.leave(socket((local ?? peer)!.family, kind, 0))
        guard descriptor >= 0 else { throw failure(operation) }
        do throws(SystemError) {
            let isReady =
                (!sharingPort || setSocketOption(SOL_SOCKET, SO_REUSEPORT, 1, of: descriptor) == 0)
                // As for TCP, "::" also takes what is sent to IPv4 addresses.
                && (local?.isIPv6 != true
                    || setSocketOption(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0, of: descriptor) == 0)
                && (local.map { unsafe $0.withSocketAddress { unsafe bind(descriptor, $0, $1) } == 0 } ?? true)
            guard isReady else { throw failure("bind") }
            if let peer, unsafe peer.withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) != 0 {
                throw failure("connect")
            }
            do throws(SystemError) {
                return try UVDatagrams(driver, adopting: descriptor)
            } catch {
                throw SystemError(error.code, operation, local: local, peer: peer)
            }
        } catch {
            Glibc.close(descriptor)
            throw error
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
        guard let descriptor else { throw SystemError(.badDescriptor, operation, local: localAddress) }
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

    var dropped: Int { descriptor.map { Int(dropped_datagrams($0)) } ?? 0 }
}
