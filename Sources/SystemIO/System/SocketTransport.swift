package import ByteStreams
package import Futures

/// A transport that calls the `ByteStream` that it serves.
package protocol StreamCarrier: ByteTransport {
    /// Calls `stream` from now on. A stream that is being released passes `nil`.
    func serve(_ stream: ByteStream?)
}

/// The transport of a connection over a socket of the operating system or of a simulated network.
package protocol SocketTransport: StreamCarrier {
    var loop: LoopCore { get }
    var localAddress: SocketAddress? { get }
    var peerAddress: SocketAddress? { get }
    /// Whether the socket has been closed.
    var isClosing: Bool { get }
    /// The index of the connection in the list of its server.
    var place: UInt32 { get set }
    /// This transport if it is a TCP transport, or else `nil`.
    var tcpTransport: (any TCPTransport)? { get }
    /// Returns a number that no other connection of the system has.
    func nextNumber() -> UInt64
    /// Returns the identity of the process at the other end of a UNIX socket.
    func readPeerCredentials() throws(SystemError) -> (process: Int32, user: UInt32, group: UInt32)
    /// Returns a new descriptor of the same socket.
    func duplicate() throws(SystemError) -> CInt
    /// Returns an object that sends files past the transport, or `nil` if there is none, as in a simulation.
    func makeFileSender() throws(SystemError) -> (any FileSender)?
}

extension SocketTransport {
    package func makeFileSender() -> (any FileSender)? { nil }

    /// Returns what a snapshot says of the transport.
    package func line(isReading: Bool) -> String {
        "connection \(SocketAddress.ends(localAddress, peerAddress)), \(isReading ? "reading" : "not reading"), "
            + "\(isClosing ? 0 : unwrittenBytes) bytes unsent"
    }
}

extension SocketAddress {
    /// Returns the two ends of a connection as a text.
    package static func ends(_ local: SocketAddress?, _ peer: SocketAddress?) -> String {
        [local, peer].map { $0?.description ?? "unknown" }.joined(separator: " – ")
    }
}

/// The transport of a TCP connection.
package protocol TCPTransport: SocketTransport {
    var noDelay: Bool { get }
    func setNoDelay(_ isOn: Bool)
    /// Sets the keep-alive options. `nil` switches keep-alive off.
    func setKeepAlive(_ settings: KeepAlive?) throws(SystemError)
    /// Sets how long bytes may stay unacknowledged. 0 stands for the default of the system.
    func setUserTimeout(milliseconds: CInt) throws(SystemError)
}

/// The probes that a system sends to a silent peer. The times are in seconds.
package struct KeepAlive: Equatable {
    package let idle, interval, probes: CInt
}
