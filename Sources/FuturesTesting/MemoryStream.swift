public import ByteStreams
public import Futures

/// One end of a connection in memory, for tests: a stream that needs no system, and on a virtual loop no time.
///
/// Both ends belong to one loop, virtual or real. They behave as two ends of a TCP connection do. What the reader
/// does not take fills the connection, and then holds the writer back. An `abort` resets the connection. So do bytes
/// that come to an end that has been closed.
public final class MemoryStream: ByteStream {
    private let memory: MemoryTransport

    private init(_ memory: MemoryTransport, limits: StreamLimits) {
        self.memory = memory
        super.init(loop: memory.loop, transport: memory, limits: .of(limits))
        memory.stream = self
    }

    /// Creates a connection that holds at most `capacity` bytes in each direction, and returns its two ends.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `capacity` is not positive, or if `limits` or `faults`
    /// make no sense, and ``Futures/FutureError/shutDown``.
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
        guard capacity > 0 else {
            throw FutureError.invalidArgument(
                "a capacity of \(capacity) bytes holds nothing; give at least 1")
        }
        try limits.validate()
        try faults.validate()
        guard !loop.core.isShutDown else { throw FutureError.shutDown }
        let link = MemoryLink(loop.core, capacity: capacity, faults: faults)
        let ends = (MemoryTransport(link, sends: .there), MemoryTransport(link, sends: .back))
        return (MemoryStream(ends.0, limits: limits), MemoryStream(ends.1, limits: limits))
    }

    /// The number of faults injected into the bytes of this connection, of each kind, in both directions.
    public var injectedFaults: StreamFaults.Counts {
        loop.core.checkThread()
        return memory.link.injected
    }
}
