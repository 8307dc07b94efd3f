public import ByteStreams
public import Futures

extension TCPConnection {
    /// Takes over `descriptor`, a connected TCP socket that other code has made.
    ///
    /// The connection owns the descriptor from now on. The descriptor does not block and is not passed on to programs
    /// that this process starts. Descriptors 0 to 2 get another number, and `/dev/null` takes their place.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if it is not such a socket, or has been adopted before.
    /// The caller then keeps the descriptor.
    ///
    /// No other code may close the descriptor. If some does, the next read, queued write or shutdown fails with
    /// ``UVError/Code/badDescriptor``. A write that the system takes at once goes to whatever has the number by then.
    /// What has the number when the connection is closed stays open, and the mistake is reported.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(try UVTCP.adopting(descriptor, on: loop), limits: .of(limits))
    }
}
