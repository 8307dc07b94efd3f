public import ByteStreams
public import Futures

extension UnixConnection {
    /// Creates a connection that takes over `descriptor`, a connected stream socket of the UNIX domain that other
    /// code has made.
    ///
    /// From now on, the connection owns the descriptor. The descriptor is put into non-blocking mode, and
    /// programs that this process starts do not inherit it. If the descriptor is 0, 1 or 2, the socket moves
    /// to a higher number, and the old number then stands for `/dev/null`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not a connected stream socket of
    /// the UNIX domain. If this initializer throws, the caller keeps the descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        let system = try loop.descriptorSystem()
        // Throws if the descriptor is not open, or is a socket that listens or is for messages.
        _ = try OpenDescriptor(descriptor)
        let socket = try Self.adopt(descriptor, "a socket of the UNIX domain", on: system)
        self.init(socket, limits: .of(limits, on: loop.core))
    }
}
