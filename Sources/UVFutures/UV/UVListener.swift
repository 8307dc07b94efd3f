internal import CLibUV
internal import Futures
internal import Glibc

/// A listening socket of any kind. libuv only says that connections wait; this class takes them from the system. So no
/// descriptor is ever taken and thrown away, and libuv's releases make no difference.
final class UVListener: UVHandle {
    private(set) var descriptor: CInt
    let localAddress: SocketAddress
    /// Whether it accepts connections to any address of the machine.
    let isWildcard: Bool
    /// Whether connections have `TCP_NODELAY` from the start, like this socket, if that is known. Other code may change
    /// it at any time on a socket that it has made.
    private var passesOnNoDelay: Bool? = false
    /// The number of connections that may wait, plus one: the system counts so.
    let capacity: Int
    /// Whether `onReady` is called. Otherwise the handle only keeps the loop alive.
    private(set) var isWatching = false

    /// Called while connections wait, or when the socket no longer listens, until `watch(false)`; not in a turn.
    var onReady: () -> Void = {}
    /// Called when the socket no longer listens while it is not watched, until it is closed; not in a turn.
    var onEnd: () -> Void = {}
    /// The error that closed the socket, unless it was closed on request.
    private var failure: (any Error)?

    /// Called before the socket is closed, but not if it is given up.
    var beforeClose: () -> Void = {}
    var onClose: () -> Void = {}

    private var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory(as: uv_poll_t.self) }

    /// Takes over a listening descriptor, unless it throws.
    init(
        _ driver: UVLoop, adopting descriptor: CInt, _ localAddress: SocketAddress, capacity: Int = 65_536
    ) throws(UVError) {
        self.descriptor = descriptor
        self.localAddress = localAddress
        isWildcard = ["0.0.0.0", "::"].contains(localAddress.host)
        self.capacity = capacity
        try unsafe super.init(driver, UV_POLL, "listen") { unsafe uv_poll_init($0, $1, descriptor) }
        watch(false)
        if loop.isObserved { loop.tell(.opened(ListeningSocket(address: localAddress))) }
    }

    /// Creates a listener. With `sharingPort`, it shares the port with other sockets that ask for it too.
    convenience init(
        _ driver: UVLoop, _ address: SocketAddress, backlog: CInt, sharingPort: Bool
    ) throws(UVError) {
        let descriptor = try UVListener.listen(address, backlog: backlog, sharingPort: sharingPort)
        do throws(UVError) {
            try self.init(
                driver, adopting: descriptor, SocketAddress(localOf: descriptor) ?? address,
                capacity: Int(backlog) + 1)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        _ = setSocketOption(CInt(IPPROTO_TCP), TCP_NODELAY, 1, of: descriptor)
        passesOnNoDelay = nil
    }

    private static func listen(
        _ address: SocketAddress, backlog: CInt, sharingPort: Bool
    ) throws(UVError) -> CInt {
        func failure() -> UVError { UVError(-errno, "listen", local: address) }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = StandardDescriptors.leave(socket(address.family, kind, 0))
        guard descriptor >= 0 else { throw failure() }
        let isListening =
            unsafe setSocketOption(SOL_SOCKET, SO_REUSEADDR, 1, of: descriptor) == 0
            && (!sharingPort || setSocketOption(SOL_SOCKET, SO_REUSEPORT, 1, of: descriptor) == 0)
            // Whatever the system's default: "::" takes what comes to addresses of IPv4 too, as with libuv.
            && (!address.isIPv6 || setSocketOption(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0, of: descriptor) == 0)
            && address.withSocketAddress { unsafe bind(descriptor, $0, $1) } == 0
            && Glibc.listen(descriptor, backlog) == 0
        guard isListening else {
            let failure = failure()
            Glibc.close(descriptor)
            throw failure
        }
        return descriptor
    }

    func watch(_ isWatching: Bool) {
        guard !isClosing else { return }
        guard !hasLost(descriptor) else { return loop.later { [self] in if !isClosing { onEnd() } } }
        self.isWatching = isWatching
        // That it hangs up, which a socket that listens does not, is waited for to keep the handle active too.
        let events = isWatching ? UV_READABLE : UV_DISCONNECT
        unsafe uv_poll_start(poll, CInt(events.rawValue)) { handle, _, _ in
            let listener = unsafe UVListener.from(handle!.pointee.data)
            listener.isWatching ? listener.onReady() : listener.onEnd()
        }
    }

    /// Accepts a waiting connection; `nil` if there is none.
    func accept() -> Result<AcceptedSocket, UVError>? {
        // A network may break many connections before they are accepted, but not without end.
        for _ in 0..<64 {
            var peer: SocketAddress?
            let taken = unsafe StandardDescriptors.leave(
                SocketAddress.read(&peer) { unsafe accept_socket(descriptor, $0, $1) })
            guard taken < 0 else {
                return .success(AcceptedSocket(descriptor: taken, listener: self, peerAddress: peer))
            }
            switch errno {
            case EAGAIN: return nil
            // That one is gone, or came with an error of the network: there may be others.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                ENETUNREACH:
                continue
            default: return .failure(UVError(-errno, "accept", local: localAddress))
            }
        }
        return nil
    }

    /// Whether `connection`, which came to this socket, has `TCP_NODELAY` already. Asks the system for the first one.
    func passesOnNoDelay(to connection: CInt) -> Bool {
        if let passesOnNoDelay { return passesOnNoDelay }
        let passesOn = socketOption(TCP_NODELAY, at: CInt(IPPROTO_TCP), of: connection) == 1
        passesOnNoDelay = passesOn
        return passesOn
    }

    /// Closes the socket and the handle at once, because of `failure` if there is one.
    func closeSocket(_ failure: (any Error)? = nil) {
        guard !isClosing else { return }
        self.failure = failure
        beforeClose()
        beforeClose = {}
        closeAdopted(descriptor) {
            close()
            Glibc.close(descriptor)
        }
    }

    override var ownedDescriptor: CInt? { isClosing ? nil : descriptor }

    override func abort() { closeSocket(FutureError.shutDown) }

    override var line: String {
        "\(ListeningSocket(address: localAddress))\(isWatching ? "" : ", not accepting")"
    }

    override func didClose() {
        if loop.isObserved { loop.tell(.closed(ListeningSocket(address: localAddress), failure: failure)) }
        let onClose = onClose
        self.onClose = {}
        onReady = {}
        onEnd = {}
        onClose()
    }
}

/// A connection as it comes from the system, with a descriptor that has no owner yet.
struct AcceptedSocket {
    let descriptor: CInt
    /// The socket that accepted the connection.
    let listener: UVListener
    let peerAddress: SocketAddress?
}
