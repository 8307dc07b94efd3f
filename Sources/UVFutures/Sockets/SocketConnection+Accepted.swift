internal import ByteStreams

extension SocketConnection {
    /// Makes the connection of an accepted socket, which is a TCP or a UNIX connection like its listener.
    static func made(
        over socket: any SocketTransport, of listener: any ListenerSocket, limits: SharedLimits
    ) -> SocketConnection {
        guard !listener.localAddress.isUnix else { return UnixConnection(socket, limits: limits) }
        // A checked cast is slow.
        guard socket is UVStream else { return TCPConnection(socket as! any TCPTransport, limits: limits) }
        return TCPConnection(unsafe unsafeDowncast(socket, to: UVTCP.self), limits: limits)
    }
}
