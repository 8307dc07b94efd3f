internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// A TCP socket that is connected, or is about to connect.
final class UVTCP: UVStream, TCPTransport, ConnectingSocket {
    private(set) var noDelay = false

    /// Creates a socket for addresses of `family`. With `AF_UNSPEC`, the socket takes all families, and has
    /// no descriptor yet.
    init(_ driver: UVLoop, family: CInt = AF_UNSPEC) throws(SystemError) {
        try unsafe super.init(driver, UV_TCP, "connect") { loop, tcp in
            driver.makeStream { unsafe uv_tcp_init_ex(loop, tcp, CUnsignedInt(family)) }
        }
    }

    /// Creates a socket that can connect to `peer`. Binds the socket to `address`, if that is not `nil`.
    static func made(
        _ driver: UVLoop, from address: SocketAddress?, to peer: SocketAddress
    ) throws(SystemError) -> UVTCP {
        let socket: UVTCP
        do throws(SystemError) {
            socket = try made(driver, family: peer.family)
        } catch {
            throw SystemError(error.code, error.operation, local: address, peer: peer)
        }
        if let address { try socket.bind(to: address) }
        return socket
    }

    private static func made(_ driver: UVLoop, family: CInt) throws(SystemError) -> UVTCP {
        let socket = try UVTCP(driver, family: family)
        guard let descriptor = socket.descriptor else { return socket }
        driver.claim(descriptor)
        guard StandardDescriptors.include(descriptor) else { return socket }
        socket.close()
        // libuv never closes the descriptors 0, 1 and 2.
        Glibc.close(descriptor)
        return try StandardDescriptors.avoid { () throws(SystemError) in try UVTCP(driver, family: family) }
    }

    /// Binds the socket, and closes it if that fails.
    private func bind(to address: SocketAddress) throws(SystemError) {
        var status = unsafe address.withSocketAddress { address, _ in unsafe uv_tcp_bind(tcp, address, 0) }
        // libuv does not report at once that an address is in use, but at the next call for the socket.
        if status == 0 {
            var bound: SocketAddress?
            var length = CInt(MemoryLayout<sockaddr_storage>.size)
            status = unsafe SocketAddress.read(&bound) { name, _ in
                unsafe uv_tcp_getsockname(tcp, name, &length)
            }
        }
        try closeUnlessDone(status, "bind", local: address)
    }

    /// Creates a stream that takes over a connected socket. If this throws, the caller keeps the descriptor.
    convenience init(_ driver: UVLoop, adopting descriptor: CInt) throws(SystemError) {
        driver.claim(descriptor)
        try self.init(driver)
        try closeUnlessDone(unsafe uv_tcp_open(tcp, descriptor), "adopt")
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory(as: uv_tcp_t.self) }

    /// Connects to `address`. Calls `completion` once: with `nil` when the socket has connected, or with the
    /// error. If the socket is closed before, that is an error too.
    func connect(to address: SocketAddress, completion: @escaping (SystemError?) -> Void) {
        peerAddress = address
        let request = UVResultRequest(driver, UV_CONNECT) { [self] status in
            completion(status == 0 ? readLocalAddress() : error(CInt(status), "connect"))
        }
        let status = request.submit {
            unsafe address.withSocketAddress { address, _ in
                unsafe uv_tcp_connect(request.memory(as: uv_connect_t.self), tcp, address) {
                    unsafe UVResultRequest.completed($0!.pointee.data).complete(Int($1))
                }
            }
        }
        if status != 0 { loop.later { [self] in completion(error(status, "connect")) } }
    }

    /// Reads the address of this end. Returns the error if that fails.
    private func readLocalAddress() -> SystemError? {
        do throws(SystemError) {
            localAddress = try SocketAddress.local(of: descriptor ?? -1, "connect")
            return nil
        } catch {
            return SystemError(error.code, error.operation, peer: peerAddress)
        }
    }

    func connected() -> any TCPTransport { self }

    override var tcpTransport: (any TCPTransport)? { self }

    func timeout() -> SystemError {
        _ = readLocalAddress()
        return SystemError(.timedOut, "connect", local: localAddress, peer: peerAddress)
    }

    /// Notes that the socket has `TCP_NODELAY` already.
    func hasNoDelay() { noDelay = true }

    func setNoDelay(_ isOn: Bool) {
        noDelay = isOn
        unsafe uv_tcp_nodelay(tcp, isOn ? 1 : 0)
    }

    /// Sets the keep-alive options. `nil` switches keep-alive off. Does not call
    /// `uv_tcp_keepalive`, which has all these options only from version 1.52 on.
    func setKeepAlive(_ settings: KeepAlive?) throws(SystemError) {
        guard let settings else { return try set(SO_KEEPALIVE, of: SOL_SOCKET, to: 0, "keep-alive") }
        try set(TCP_KEEPIDLE, of: tcpLevel, to: settings.idle, "keep-alive")
        try set(TCP_KEEPINTVL, of: tcpLevel, to: settings.interval, "keep-alive")
        try set(TCP_KEEPCNT, of: tcpLevel, to: settings.probes, "keep-alive")
        try set(SO_KEEPALIVE, of: SOL_SOCKET, to: 1, "keep-alive")
    }

    func setUserTimeout(milliseconds: CInt) throws(SystemError) {
        try set(TCP_USER_TIMEOUT, of: tcpLevel, to: milliseconds, "user timeout")
    }

    private var tcpLevel: CInt { CInt(IPPROTO_TCP) }

    private func set(_ option: CInt, of level: CInt, to value: CInt, _ operation: String) throws(SystemError)
    {
        guard let descriptor else { throw error(UV_EBADF.rawValue, operation) }
        if setSocketOption(level, option, value, of: descriptor) != 0 { throw error(-errno, operation) }
    }

    override var unacknowledgedBytes: Int { descriptor.map { Int(unacknowledged_bytes($0)) } ?? 0 }

    /// Closes the socket. With `resetting`, first resets the connection, even if other processes have copies of the
    /// descriptor. Closing with a linger time of 0, as `uv_tcp_close_reset` does, resets the connection only when the
    /// last copy is closed. Until then, the system would go on sending what is queued.
    override func close(resetting: Bool) {
        if resetting, let descriptor, !isAdopted || lost == nil { reset(descriptor) }
        super.close(resetting: resetting)
    }

    private func reset(_ descriptor: CInt) {
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        let size = socklen_t(MemoryLayout<sockaddr>.size)
        guard unsafe Glibc.connect(descriptor, &nowhere, size) != 0 else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
