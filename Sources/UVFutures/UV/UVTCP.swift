internal import CLibUV
internal import Glibc

/// A TCP socket that is, or is about to be, connected.
final class UVTCP: UVStream {
    init(_ driver: UVLoop) throws(UVError) {
        try unsafe super.init(driver, UV_TCP, "socket", initialize: uv_tcp_init)
        loop.liveConnections += 1
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory(as: uv_tcp_t.self) }

    /// Calls `completion` once: when it has connected, when that has failed, or when it is closed before.
    func connect(to address: SocketAddress, completion: @escaping (UVError?) -> Void) {
        peerAddress = address
        let request = UVStatusRequest(driver, UV_CONNECT) { [self] status in
            completion(status == 0 ? nil : error(status, "connect"))
        }
        let status = request.submit {
            unsafe address.withSocketAddress { address in
                unsafe uv_tcp_connect(request.memory(as: uv_connect_t.self), tcp, address) {
                    request, status in
                    unsafe UVStatusRequest.completed(request!.pointee.data).complete(status)
                }
            }
        }
        if status != 0 {
            loop.submit { [self] in completion(error(status, "connect")) }.ignoreFailure()
        }
    }

    func readLocalAddress() {
        localAddress = unsafe SocketAddress { unsafe uv_tcp_getsockname(tcp, $0, $1) }
    }

    func readPeerAddress() {
        peerAddress = unsafe SocketAddress { unsafe uv_tcp_getpeername(tcp, $0, $1) }
    }

    func setNoDelay(_ isOn: Bool) {
        unsafe uv_tcp_nodelay(tcp, isOn ? 1 : 0)
    }

    func setKeepAlive(seconds: CUnsignedInt?) throws(UVError) {
        let status = unsafe uv_tcp_keepalive(tcp, seconds == nil ? 0 : 1, seconds ?? 0)
        if status != 0 { throw error(status, "keep-alive") }
    }

    /// The reset is that of a socket which does not linger. `uv_tcp_close_reset` refuses it after a shutdown.
    override func close(resetting: Bool) {
        var descriptor: uv_os_fd_t = -1
        if resetting, !isClosing, unsafe uv_fileno(handle, &descriptor) == 0 {
            var option = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close()
    }

    override func didClose() {
        loop.liveConnections -= 1
        super.didClose()
    }
}
