public import ByteStreams
public import Futures

/// One end of a connection in memory, for tests: a stream without a socket. On a virtual loop, the transfer of bytes
/// takes no real time.
///
/// Both ends belong to one loop, virtual or real. They behave like the two ends of a TCP connection. The connection
/// holds a limited number of unread bytes. When it is full, further writes wait in the queue of the writing end. An
/// `abort` resets the connection. Bytes that arrive at a closed end also reset it.
public final class MemoryStream: ByteStream {
    private let memory: MemoryTransport

    private init(_ memory: MemoryTransport, limits: StreamLimits) {
        self.memory = memory
        super.init(loop: memory.loop, transport: memory, limits: .of(limits, on: memory.loop))
        memory.stream = self
    }

    /// Creates a connection, and returns its two ends. The connection holds at most `capacity` unread bytes in
    /// each direction.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `capacity` is not positive, or if `limits` or
    /// `faults` are out of range. Throws ``Futures/FutureError/shutDown`` if `loop` has been shut down.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// let (client, server) = try MemoryStream.pair(on: loop)
    /// client.write("hello\n")
    /// print(try loop.run(until: server.readLine())?.count ?? 0)    // 5
    /// ```
    public static func pair(
        on loop: EventLoop, limits: StreamLimits = StreamLimits(), capacity: Int = 65_536,
        faults: StreamFaults = StreamFaults()
    ) throws -> (MemoryStream, MemoryStream) {
        try requireArgument("capacity", capacity, atLeast: 1)
        try limits.validate()
        try faults.validate()
        guard !loop.core.isShutDown else { throw FutureError.shutDown }
        let link = MemoryLink(loop.core, capacity: capacity, faults: faults)
        let ends = [0, 1].map { MemoryStream(MemoryTransport(link, end: $0), limits: limits) }
        return (ends[0], ends[1])
    }

    /// The number of faults of each kind that were injected into this connection, in both directions together.
    public var injectedFaults: StreamFaults.Counts {
        loop.core.checkThread()
        return memory.link.injected
    }
}
