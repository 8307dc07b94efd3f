internal import Futures

extension DatagramSocket {
    /// The size in bytes of the system's buffer for datagrams that nobody has received. Linux counts its own overhead
    /// for each datagram, too. Reads `SO_RCVBUF`. Throws ``SystemError`` if the socket has been closed.
    public final var receiveBufferSize: Int {
        get throws {
            core.checkThread()
            return try transport.value(of: .receiveBuffer)
        }
    }

    /// Asks the system for a buffer of `size` bytes for datagrams that nobody has received. Linux takes at most the
    /// sysctl `net.core.rmem_max` for `size`, and doubles it: read ``receiveBufferSize`` for the result.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `size` is not positive, and ``SystemError`` if the socket
    /// has been closed. Sets `SO_RCVBUF`.
    public final func setReceiveBufferSize(_ size: Int) throws {
        try set(.receiveBuffer, to: size, "a buffer of \(size) bytes")
    }

    /// The size in bytes of the system's buffer for datagrams that have not left. Reads `SO_SNDBUF`. Throws
    /// ``SystemError`` if the socket has been closed.
    public final var sendBufferSize: Int {
        get throws {
            core.checkThread()
            return try transport.value(of: .sendBuffer)
        }
    }

    /// Asks the system for a buffer of `size` bytes for datagrams that have not left. Linux takes at most the sysctl
    /// `net.core.wmem_max` for `size`, and doubles it. Throws the errors of ``setReceiveBufferSize(_:)``. Sets
    /// `SO_SNDBUF`.
    public final func setSendBufferSize(_ size: Int) throws {
        try set(.sendBuffer, to: size, "a buffer of \(size) bytes")
    }

    /// Sets `option` to `value`. Throws an error that calls the value `name` if it is not in `range`.
    final func set(
        _ option: DatagramOption, to value: Int, in range: ClosedRange<Int> = 1...Int(CInt.max / 2),
        _ name: String
    ) throws {
        core.checkThread()
        try requireArgument(
            range.contains(value), "\(name) is out of range; give \(range.lowerBound) to \(range.upperBound)")
        try transport.set(option, to: value)
    }
}
