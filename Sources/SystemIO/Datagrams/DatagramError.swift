/// An error that a datagram socket itself finds. The errors of the operating system are of the type ``SystemError``.
public enum DatagramError: Error, Hashable {
    /// This side has closed the socket.
    case socketClosed
    /// A pending `forEachDatagram` gets the datagrams, or a `forEachDatagram` was called while something else waited
    /// for them.
    case receivePending
    /// The datagram has `size` bytes, more than `limit`, the longest for this kind of socket.
    case tooLong(size: Int, limit: Int)
    /// The system takes the datagrams too slowly. `queued` bytes were waiting to leave, and with this datagram they
    /// would have been more than `limit`, the value of ``DatagramLimits/writeCap``. The datagram was not sent.
    case queueFull(queued: Int, limit: Int)
}

extension DatagramError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .socketClosed:
            "the socket was closed on this side; send and receive before close()"
        case .receivePending:
            "another receive() or forEachDatagram is pending on this socket, and forEachDatagram takes all "
                + "datagrams; wait for it or cancel it first"
        case .tooLong(let size, let limit):
            "a datagram of \(size) bytes cannot be sent: the limit is \(limit); send it in parts"
        case .queueFull(let queued, let limit):
            "the datagram was not sent: \(queued) bytes wait to be sent, and no more than \(limit) may; wait for the "
                + "futures of send, or for writable"
        }
    }
}
