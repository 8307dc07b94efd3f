public import ByteStreams
public import Futures

/// A listening TCP socket.
public typealias TCPListener = SocketListener<TCPConnection>

extension SocketListener where Connection == TCPConnection {
    /// Creates a listener on `port` of `host`, which is a numeric address or `localhost`. For `localhost`, the
    /// listener uses 127.0.0.1, or ::1 if this machine does not have 127.0.0.1.
    ///
    /// If `port` is 0, the system picks a port. At most `backlog` connections wait to be accepted. The listener
    /// can use an address immediately after another listener has left it (`SO_REUSEADDR`). With
    /// `sharingPort: true`, several sockets of the same user may listen on the same port, in several processes or
    /// loops. The system distributes the connections over these sockets (`SO_REUSEPORT`).
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` is a name other than `localhost`, or if an argument
    /// is out of range.
    /// Binds `listen`.
    public convenience init(
        host: String, port: Int, backlog: Int = 1024, sharingPort: Bool = false,
        limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(
            try loop.listeningSocket(host: host, port: port, backlog: backlog, sharingPort: sharingPort),
            limits: limits)
    }
}

extension EventLoop {
    /// Returns a socket that listens on an address of `host`: the first one that this machine has.
    func listeningSocket(
        host: String, port: Int, backlog: Int, sharingPort: Bool
    ) throws -> any ListenerSocket {
        let (system, backlog) = try system(forBacklog: backlog)
        var addresses = try SocketAddress.all(host: host, port: port)[...]
        while true {
            let address = addresses.removeFirst()
            do throws(SystemError) {
                return try system.listen(on: address, backlog: backlog, sharingPort: sharingPort)
            } catch {
                guard error.code == .addressNotAvailable, !addresses.isEmpty else { throw error }
            }
        }
    }
}
