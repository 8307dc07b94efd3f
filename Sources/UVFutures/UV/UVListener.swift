internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A listening socket of any kind. libuv only reports that connections wait, and this class accepts them from
/// the system. So the class never accepts a connection that it has to close at once. It also behaves in the
/// same way with each version of libuv.
final class UVListener: UVPolledSocket, ListenerSocket {
    let localAddress: SocketAddress
    /// Whether the socket accepts connections to all addresses of the machine.
    private let isWildcard: Bool
    /// Whether accepted connections inherit `TCP_NODELAY` from this socket. `nil` if the first connection has
    /// not shown it yet. `false` for an adopted socket, because other code may change the option at any time.
    private var passesOnNoDelay: Bool? = false
    let capacity: Int
    private(set) var isWatching = false
    var onReady: () -> Void = {}
    var onEnd: () -> Void = {}
    var onClose: () -> Void = {}

    /// Creates a listener that takes over a listening descriptor. If this throws, the caller keeps the
    /// descriptor.
    init(
        _ driver: UVLoop, adopting descriptor: CInt, _ localAddress: SocketAddress, capacity: Int = 65_536
    ) throws(SystemError) {
        self.localAddress = localAddress
        isWildcard = localAddress.isWildcard
        self.capacity = capacity
        try super.init(driver, polling: descriptor, "listen")
        watch(false)
        if loop.isObserved { loop.tell(.opened(ListeningSocket(address: localAddress))) }
    }

    /// Creates a listener on `address`.
    convenience init(_ driver: UVLoop, _ address: SocketAddress, _ options: ListenOptions) throws(SystemError)
    {
        let descriptor = try makeSocket(SOCK_STREAM, local: address, "listen")
        do throws(SystemError) {
            let isListening =
                setSocketOption(SOL_SOCKET, SO_REUSEADDR, 1, of: descriptor) == 0
                && options.device.map { bindToDevice(descriptor, $0) } ?? true
                && bindSocket(descriptor, to: address, sharingPort: options.sharingPort)
                && Glibc.listen(descriptor, CInt(options.backlog)) == 0
            guard isListening else { throw SystemError(-errno, "listen") }
            let local = try SocketAddress.local(of: descriptor, "listen") ?? address
            try self.init(driver, adopting: descriptor, local, capacity: options.backlog + 1)
        } catch {
            Glibc.close(descriptor)
            throw SystemError(error.code, "listen", local: address)
        }
        _ = setSocketOption(CInt(IPPROTO_TCP), TCP_NODELAY, 1, of: descriptor)
        passesOnNoDelay = nil
    }

    func watch(_ isWatching: Bool) {
        guard !isClosing else { return }
        guard !hasLost(descriptor) else { return loop.later { [self] in if !isClosing { onEnd() } } }
        self.isWatching = isWatching
        // A listening socket never hangs up. Waiting for a hang-up keeps the handle active, and does nothing
        // else.
        let events = isWatching ? UV_READABLE : UV_DISCONNECT
        unsafe uv_poll_start(poll, CInt(events.rawValue)) { handle, _, _ in
            let listener = unsafe UVListener.from(handle!.pointee.data)
            listener.isWatching ? listener.onReady() : listener.onEnd()
        }
    }

    /// Accepts a waiting connection. Returns `nil` if no connection waits, or after 64 broken connections.
    func accept() -> Result<any SocketTransport, SystemError>? {
        // Many connections may break before they are accepted. The limit lets the loop do other work then.
        for _ in 0..<64 {
            var peer: SocketAddress?
            let taken = unsafe StandardDescriptors.leave(
                SocketAddress.read(&peer) { unsafe accept_socket(descriptor, $0, $1) })
            guard taken < 0 else { return transport(of: taken, peer) }
            switch errno {
            case EAGAIN: return nil
            // This connection has broken. Other connections may wait.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                ENETUNREACH:
                continue
            default: return .failure(SystemError(-errno, "accept", local: localAddress))
            }
        }
        return nil
    }

    /// Makes the transport of an accepted connection. Closes the descriptor if that fails.
    private func transport(
        of descriptor: CInt, _ peer: SocketAddress?
    ) -> Result<any SocketTransport, SystemError> {
        do throws(SystemError) {
            if localAddress.isUnix {
                let pipe = try UVPipe(driver, adopting: descriptor)
                pipe.localAddress = localAddress
                pipe.peerAddress = peer
                return .success(pipe)
            }
            let local = isWildcard ? try SocketAddress.local(of: descriptor, "accept") : localAddress
            let socket = try UVTCP(driver, adopting: descriptor)
            socket.localAddress = local
            socket.peerAddress = peer
            if passesOnNoDelay(to: descriptor) { socket.hasNoDelay() }
            return .success(socket)
        } catch {
            Glibc.close(descriptor)
            return .failure(SystemError(error.code, "accept", local: localAddress))
        }
    }

    /// Whether `connection`, which this socket has accepted, has `TCP_NODELAY` already. Asks the system only
    /// about the first connection.
    private func passesOnNoDelay(to connection: CInt) -> Bool {
        if let passesOnNoDelay { return passesOnNoDelay }
        let passesOn = socketOption(TCP_NODELAY, at: CInt(IPPROTO_TCP), of: connection) == 1
        passesOnNoDelay = passesOn
        return passesOn
    }

    override func hasLostDescriptor() {
        loop.later { [onEnd] in onEnd() }
        closeSocket(SystemError(.badDescriptor, "accept", local: localAddress, peer: nil))
    }

    override func abort() { closeSocket(FutureError.shutDown) }

    override var line: String {
        "\(ListeningSocket(address: localAddress))\(isWatching ? "" : ", not accepting")"
    }

    override func didClose() {
        if loop.isObserved { loop.tell(.closed(ListeningSocket(address: localAddress), failure: failure)) }
        onReady = {}
        onEnd = {}
        exchange(&onClose, with: {})()
    }
}
