internal import ByteStreams

extension SocketConnection {
    /// Makes the connection of an accepted socket, which is a TCP or a UNIX connection like its listener.
    static func made(
        over socket: any SocketTransport, of listener: any ListenerSocket, limits: SharedLimits
    ) -> SocketConnection {
        guard !listener.localAddress.isUnix, let tcp = socket.tcpTransport else {
            return UnixConnection(socket, limits: limits)
        }
        return TCPConnection(tcp, limits: limits)
    }
}
