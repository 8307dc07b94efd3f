internal import Futures

/// The limits of a datagram socket: how many bytes it keeps in memory for datagrams that have not left.
///
/// Datagrams are *queued* if you have sent them and the system has not accepted them yet
/// (``DatagramSocket/bufferedBytes``). Each of them counts as about 80 bytes more than it has.
public struct DatagramLimits: Hashable, Sendable {
    /// The number of queued bytes at which ``DatagramSocket/writable`` becomes pending.
    public var writeHighWaterMark = 65_536
    /// The number of queued bytes below which a pending ``DatagramSocket/writable`` completes.
    public var writeLowWaterMark = 16_384
    /// The most bytes that may be queued. A datagram that does not fit any more is refused with
    /// ``DatagramError/queueFull(queued:limit:)``. The socket stays usable.
    public var writeCap = 1_048_576
    /// The most bytes of a datagram that the socket delivers. A longer datagram loses its end, and has
    /// ``DatagramHeader/isTruncated`` set. 65,536, the default, is longer than any datagram of IPv4 and IPv6. A UNIX
    /// datagram may be longer: the system cuts it off there.
    public var maxSize = 65_536

    public init() {}

    func validate() throws {
        try requireArgument(
            writeHighWaterMark > 0 && (0...writeHighWaterMark).contains(writeLowWaterMark),
            "writeHighWaterMark must be at least 1 and writeLowWaterMark from 0 to that, "
                + "not \(writeHighWaterMark) and \(writeLowWaterMark)")
        try requireArgument("writeCap", writeCap, atLeast: 1)
        try requireArgument(
            (1...65_536).contains(maxSize), "a maxSize of \(maxSize) is out of range; give 1 to 65536")
    }
}
