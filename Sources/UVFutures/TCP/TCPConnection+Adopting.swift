public import ByteStreams
public import Futures

extension TCPConnection {
    /// Takes over `descriptor`, a connected TCP socket that other code has made.
    ///
    /// From now on the connection owns the descriptor. The descriptor is put into non-blocking mode, and programs that
    /// this process starts do not inherit it. If the descriptor is 0, 1 or 2, the socket gets another number, and
    /// `/dev/null` takes the old number.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not a connected TCP socket, or has
    /// been adopted before. After a failure, the caller keeps the descriptor.
    ///
    /// No other code may close the descriptor. If other code does, the next read, queued write or shutdown fails with
    /// ``UVError/Code/badDescriptor``. A write that the system takes at once goes to any file or socket that has got
    /// the same number in the meantime. When the connection is closed, such a file or socket stays open, and the
    /// mistake is reported.
    public convenience init(
        adopting descriptor: Int32, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try limits.validate()
        self.init(try UVTCP.adopting(descriptor, on: loop), limits: .of(limits))
    }
}
