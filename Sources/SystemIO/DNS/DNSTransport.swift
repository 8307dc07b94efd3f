internal import Futures

/// The sockets for queries to name servers.
struct DNSTransport {
    /// Opens a separate socket for one query. It receives only datagrams from `server`.
    var open: (_ server: SocketAddress, _ loop: EventLoop) throws -> any DNSSocket
    /// Sends `query` over a connection, and completes with the answer.
    var ask: (_ query: [UInt8], _ server: SocketAddress, _ loop: EventLoop) -> Future<[UInt8]>
}

/// A socket that is connected to a name server.
protocol DNSSocket {
    func send(_ query: [UInt8]) -> Future<Void>
    /// Completes with the next datagram. Fails if the server's system refuses the query.
    func receive() -> Future<DNSDatagram>
    func close()
}

struct DNSDatagram {
    let bytes: [UInt8]
    /// Whether the datagram was larger than the buffer.
    var isCut = false
}
