internal import ByteStreams
internal import Glibc

/// A connection as it comes from the system: nobody owns the descriptor yet.
struct AcceptedSocket {
    let descriptor: CInt
    /// The address of the socket that it came to.
    let listener: SocketAddress
    let peerAddress: SocketAddress?

    /// The connection, of the kind that the listener's address says. If it throws, the descriptor is closed.
    func connection(_ driver: UVLoop, limits: StreamLimits) throws(UVError) -> SocketConnection {
        do throws(UVError) {
            guard listener.path == nil else {
                let socket = try UVPipe(driver, adopting: descriptor)
                socket.localAddress = listener
                socket.peerAddress = peerAddress
                return UnixConnection(socket, limits: limits)
            }
            let socket = try UVTCP(driver, adopting: descriptor)
            socket.localAddress =
                listener.isWildcard ? SocketAddress(localOf: descriptor) : listener
            socket.peerAddress = peerAddress
            return TCPConnection(socket, limits: limits)
        } catch {
            close(descriptor)
            throw error
        }
    }
}

extension SocketAddress {
    /// Whether a socket with this address takes what comes to any address of the machine.
    fileprivate var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
}
