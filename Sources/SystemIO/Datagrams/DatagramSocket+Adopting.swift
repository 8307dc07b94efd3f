internal import CFuturesSystem
public import Futures
internal import Glibc

extension UDPSocket {
    /// Makes a socket that takes over `descriptor`, a UDP socket that other code has made.
    ///
    /// From now on, this object owns the descriptor, and closes it. The descriptor is put into non-blocking mode, and
    /// programs that this process starts do not inherit it. If the descriptor is 0, 1 or 2, the socket moves to a
    /// higher number, and the old number then stands for `/dev/null`.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not a UDP socket, belongs to a socket of
    /// this library already, or is watched on this loop. If this initializer throws, the caller keeps the descriptor.
    public convenience init(
        adopting descriptor: Int32, limits: DatagramLimits = DatagramLimits(), on loop: EventLoop
    ) throws {
        try self.init(Self.adopt(descriptor, "descriptor \(descriptor)", limits, on: loop), limits)
    }

    /// Makes a socket over `socket`, which systemd has passed to this process (``Systemd/sockets()``). Throws the
    /// errors of ``init(adopting:limits:on:)-(Int32,_,_)``.
    public convenience init(
        adopting socket: ActivatedSocket, limits: DatagramLimits = DatagramLimits(), on loop: EventLoop
    ) throws {
        try self.init(Self.adopt(socket.descriptor, "\(socket)", limits, on: loop), limits)
    }
}

extension UnixDatagramSocket {
    /// Makes a socket that takes over `descriptor`, a socket for datagrams of the UNIX domain that other code has made,
    /// for example one end of a `socketpair`. The rules and the errors are those of
    /// ``UDPSocket/init(adopting:limits:on:)-(Int32,_,_)``.
    public convenience init(
        adopting descriptor: Int32, limits: DatagramLimits = DatagramLimits(), on loop: EventLoop
    ) throws {
        try self.init(Self.adopt(descriptor, "descriptor \(descriptor)", limits, on: loop), limits)
    }

    /// Makes a socket over `socket`, which systemd has passed to this process (``Systemd/sockets()``). Throws the
    /// errors of ``UDPSocket/init(adopting:limits:on:)-(Int32,_,_)``.
    public convenience init(
        adopting socket: ActivatedSocket, limits: DatagramLimits = DatagramLimits(), on loop: EventLoop
    ) throws {
        try self.init(Self.adopt(socket.descriptor, "\(socket)", limits, on: loop), limits)
    }
}

extension DatagramSocket {
    fileprivate static func adopt(
        _ descriptor: Int32, _ name: String, _ limits: DatagramLimits, on loop: EventLoop
    ) throws -> any DatagramTransport {
        _ = try check(limits, on: loop)
        let system = try loop.descriptorSystem()
        func refusal(_ text: String) -> FutureError { .invalidArgument("\(name) \(text)") }

        let type = try typeOfSocket(descriptor, called: name, "for datagrams")
        guard type == CInt(SOCK_DGRAM.rawValue) else {
            throw refusal("is a stream socket, not a datagram socket; give one of type SOCK_DGRAM")
        }
        guard let address = try SocketAddress.local(of: descriptor, "adopt"),
            families.contains(address.family)
        else {
            throw refusal("is a socket of an address family that this kind of socket does not accept")
        }
        return try system.adoptDatagrams(descriptor)
    }

    /// Returns the descriptor of the socket to the caller, and ends this object. The socket stays open. Datagrams that
    /// wait to be received keep waiting in the socket.
    ///
    /// The caller owns the returned descriptor, which is in non-blocking mode. Everything that waits ends as after
    /// ``close()``. Throws ``DatagramError/socketClosed`` if the socket has been closed.
    public final func release() throws -> Int32 {
        core.checkThread()
        flush(isLast: true)
        guard let descriptor = transport.release() else { throw DatagramError.socketClosed }
        end(because: nil)
        return descriptor
    }
}
