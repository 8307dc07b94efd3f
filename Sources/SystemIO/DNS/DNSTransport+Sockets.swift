internal import ByteStreams
internal import Futures

extension DNSTransport {
    /// The sockets of the loop's system.
    static var sockets: DNSTransport {
        DNSTransport(
            open: { server, loop in
                var limits = DatagramLimits()
                limits.maxSize = maxDatagram
                return ConnectedSocket(socket: try UDPSocket.connect(to: server, limits: limits, on: loop))
            },
            ask: { query, server, loop in
                TCPConnection.connect(host: server.host, port: server.port, on: loop).flatMap { connection in
                    connection.write(
                        [UInt8(query.count >> 8), UInt8(truncatingIfNeeded: query.count)] + query)
                    return connection.readMessage().always { connection.abort() }
                }
            })
    }
}

/// The most bytes of a datagram that are read. Servers that know EDNS0 send no more than the query allows.
private let maxDatagram = 4096

/// A socket for one query. The system chooses its port at random.
private struct ConnectedSocket: DNSSocket {
    let socket: UDPSocket

    func send(_ query: [UInt8]) -> Future<Void> { socket.send(query) }

    func receive() -> Future<DNSDatagram> {
        socket.receive().map { DNSDatagram(bytes: Array($0.bytes), isCut: $0.isTruncated) }
    }

    func close() { socket.close() }
}

extension TCPConnection {
    /// Reads a name server's message, which starts with its length in two bytes.
    fileprivate func readMessage() -> Future<[UInt8]> {
        read(exactly: 2).flatMap { [self] length in
            guard let length else { throw DNSFault("the connection ended before it was complete") }
            return read(exactly: Int(length.first!) << 8 | Int(length.last!))
        }
        .map { message in
            guard let message else { throw DNSFault("the connection ended before it was complete") }
            return Array(message)
        }
    }
}
