public import Futures

/// A listening socket of the UNIX domain.
public typealias UnixListener = SocketListener<UnixConnection>

extension SocketListener where Connection == UnixConnection {
    /// Creates a listener at `path`. `path` has the form that ``SocketAddress/init(path:)`` describes.
    ///
    /// If there is a socket at `path` at which no process listens any more, the new socket replaces it. The listener
    /// never replaces other files. When the listener is closed, it removes the file of its socket, unless another
    /// socket has replaced that file.
    ///
    /// The file has the ``ListenOptions/permissions`` of `options` from the start.
    ///
    /// Throws ``SystemError`` if the system refuses, for example with ``SystemError/Code/addressInUse`` if a process
    /// listens at `path`. Throws ``Futures/FutureError/invalidArgument(_:)`` if there is a file at `path` that is
    /// not a socket, or if an argument is out of range.
    /// Calls the system's `bind` and `listen`.
    public convenience init(
        path: String, options: ListenOptions = ListenOptions(), on loop: EventLoop
    ) throws {
        self.init(try loop.listeningSocket(path: path, options), limits: options.limits)
    }
}

extension EventLoop {
    /// Returns a socket that listens at `path`. Throws an error if an argument is out of range.
    func listeningSocket(path: String, _ options: ListenOptions) throws -> any ListenerSocket {
        try core.checkRuns()
        try options.validate(forUnix: true)
        let address = try SocketAddress(path: path)
        try address.check(options.permissions)
        return try system.listen(atPath: address, options)
    }
}
