internal import ByteStreams
internal import Glibc

extension AcceptedSocket {
    /// Makes the connection, which is a TCP or a UNIX connection like its listener. Closes the descriptor
    /// before it throws an error.
    func connection(_ driver: UVLoop, limits: SharedLimits) throws(UVError) -> SocketConnection {
        do throws(UVError) {
            guard listener.localAddress.path == nil else {
                let socket = try UVPipe(driver, adopting: descriptor)
                socket.localAddress = listener.localAddress
                socket.peerAddress = peerAddress
                return UnixConnection(socket, limits: limits)
            }
            let socket = try UVTCP(driver, adopting: descriptor)
            socket.localAddress =
                listener.isWildcard ? SocketAddress(localOf: descriptor) : listener.localAddress
            socket.peerAddress = peerAddress
            if listener.passesOnNoDelay(to: descriptor) { socket.hasNoDelay() }
            return TCPConnection(socket, limits: limits)
        } catch {
            close(descriptor)
            throw error
        }
    }
}
