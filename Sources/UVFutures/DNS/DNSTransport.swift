internal import Futures

/// The sockets by which a name server is asked.
struct DNSTransport {
    /// Opens a socket of its own for one query. Only datagrams of `server` arrive at it.
    var open: (_ server: SocketAddress, _ loop: EventLoop) throws -> any DNSSocket
    /// Sends `query` over a connection, and completes with the answer.
    var ask: (_ query: [UInt8], _ server: SocketAddress, _ loop: EventLoop) -> Future<[UInt8]>
}

/// A socket that is connected to a name server.
protocol DNSSocket {
    func send(_ query: [UInt8]) -> Future<Void>
    /// Completes with the next datagram. Fails if the system of the server refuses the query.
    func receive() -> Future<DNSDatagram>
    func close()
}

struct DNSDatagram {
    let bytes: [UInt8]
    /// Whether the datagram had more bytes than there was room for.
    var isCut = false
}
