public import Futures

/// A listening TCP socket.
public typealias TCPListener = SocketListener<TCPConnection>

extension SocketListener where Connection == TCPConnection {
    /// Creates a listener on `port` of `host`, which is a numeric address or `localhost`. For `localhost`, the
    /// listener uses 127.0.0.1, or ::1 if this machine does not have 127.0.0.1.
    ///
    /// If `port` is 0, the system picks a port. The listener can use an address immediately after another listener
    /// has left it (`SO_REUSEADDR`).
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `host` is a name other than `localhost`, or if an argument
    /// is out of range.
    /// Binds `listen`.
    public convenience init(
        host: String, port: Int, options: ListenOptions = ListenOptions(), on loop: EventLoop
    ) throws {
        self.init(try loop.listeningSocket(host: host, port: port, options), limits: options.limits)
    }
}

extension EventLoop {
    /// Returns a socket that listens on an address of `host`: the first one that this machine has.
    func listeningSocket(host: String, port: Int, _ options: ListenOptions) throws -> any ListenerSocket {
        try core.checkRuns()
        try options.validate(forUnix: false)
        var addresses = try SocketAddress.all(host: host, port: port)[...]
        while true {
            let address = addresses.removeFirst()
            do throws(SystemError) {
                return try system.listen(on: address, options)
            } catch {
                guard error.code == .addressNotAvailable, !addresses.isEmpty else { throw error }
            }
        }
    }
}
