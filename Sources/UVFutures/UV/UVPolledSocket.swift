internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A descriptor that libuv only watches.
class UVPollHandle: UVHandle {
    final let descriptor: CInt
    final var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory(as: uv_poll_t.self) }

    /// Starts with `descriptor`, which libuv must be able to watch. If this throws, the caller keeps the descriptor.
    init(_ driver: UVLoop, polling descriptor: CInt, _ operation: String = "watch") throws(SystemError) {
        self.descriptor = descriptor
        driver.claim(descriptor)
        try unsafe super.init(driver, UV_POLL, operation) { unsafe uv_poll_init($0, $1, descriptor) }
    }
}

/// A socket that libuv only watches: the subclass makes the system calls.
class UVPolledSocket: UVPollHandle {
    /// The error because of which the socket was closed. `nil` if the user has closed it.
    private(set) final var failure: (any Error)?
    /// Called before the socket is closed. `release()` does not call this.
    final var beforeClose: () -> Void = {}

    final override var ownedDescriptor: CInt? { isClosing ? nil : descriptor }

    /// Closes the socket and the handle at once.
    final func closeSocket(_ failure: (any Error)?) {
        guard !isClosing else { return }
        self.failure = failure
        beforeClose()
        beforeClose = {}
        closeAdopted(descriptor) {
            close()
            Glibc.close(descriptor)
        }
    }

    /// Closes the handle, but not the socket.
    final func release() -> CInt? {
        guard !isClosing else { return nil }
        beforeClose = {}
        closeAdopted(descriptor) { close() }
        return descriptor
    }
}

/// Makes a socket of the family of `local`, or else of `peer`, of which one is needed. It does not block, and no
/// program that this process starts inherits it.
func makeSocket(
    _ type: __socket_type, local: SocketAddress? = nil, peer: SocketAddress? = nil, _ operation: String
) throws(SystemError) -> CInt {
    let kind = CInt(type.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = StandardDescriptors.leave(socket((local ?? peer)!.family, kind, 0))
    guard descriptor >= 0 else { throw SystemError(-errno, operation, local: local, peer: peer) }
    return descriptor
}

/// Binds a socket of the Internet. As in libuv, "::" also stands for IPv4 addresses: the default of the system does not
/// matter. Returns `false` and sets `errno` if that fails.
func bindSocket(_ descriptor: CInt, to address: SocketAddress, sharingPort: Bool) -> Bool {
    unsafe (!sharingPort || setSocketOption(SOL_SOCKET, SO_REUSEPORT, 1, of: descriptor) == 0)
        && (!address.isIPv6 || setSocketOption(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0, of: descriptor) == 0)
        && address.withSocketAddress { unsafe bind(descriptor, $0, $1) } == 0
}
