import FoundationEssentials
import Futures
import FuturesTesting
import UVFutures

/// A name server with sockets, real or simulated, whose answers the test decides.
final class LyingServer {
    let socket: UDPSocket
    /// The datagrams that answer a query by UDP.
    var datagrams: (NameServerReply) throws -> [[UInt8]] = { _ in [] }
    /// The bytes that answer a query by TCP, before the server closes the connection.
    var stream: (NameServerReply) throws -> [UInt8] = { _ in [] }
    /// Where the queries came from.
    private(set) var clients: [SocketAddress] = []
    private let server: TCPServer

    /// Makes a server, of which nothing may be left when `body` has returned.
    static func with(_ loop: EventLoop, _ body: (LyingServer, DNSResolver) throws -> Void) throws {
        let server = try LyingServer(loop)
        try body(server, try DNSResolver(servers: [server.address]))
        server.datagrams = { _ in [] }
        try loop.run(until: server.socket.close())
        _ = try loop.run(until: server.server.shutdown(within: .zero))
    }

    var address: SocketAddress { socket.localAddress }

    private init(_ loop: EventLoop) throws {
        var serve: (TCPConnection) -> Future<Void> = { _ in loop.succeeded() }
        (server, socket) = try Self.sockets(loop) { serve($0) }
        server.onConnectionError = { _ in }
        let answered = socket.forEachDatagram { [unowned self] bytes, header in
            clients.append(header.source!)
            for datagram in try datagrams(NameServerReply(to: Array(Data(copying: bytes)))!) {
                socket.send(datagram, to: header.source).ignoreFailure()
            }
        }
        answered.ignoreFailure()
        serve = { [unowned self] connection in
            connection.read(exactly: 2).flatMap { connection.read(exactly: Int($0![0]) << 8 | Int($0![1])) }
                .flatMap { [unowned self] query in
                    connection.write(try stream(NameServerReply(to: Array(query!))!))
                }
        }
    }

    /// Two sockets with the same port, which another process may have taken for one of them.
    private static func sockets(
        _ loop: EventLoop, _ serve: @escaping (TCPConnection) -> Future<Void>
    ) throws -> (TCPServer, UDPSocket) {
        while true {
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { serve($0) }
            do {
                let port = server.localAddress.port
                return (server, try UDPSocket.bind(host: "127.0.0.1", port: port, on: loop))
            } catch let error as SystemError where error.code == .addressInUse {
                // Tests count the handles that are open.
                _ = try loop.run(until: server.shutdown(within: .zero))
            }
        }
    }
}

extension [UInt8] {
    /// The bytes with their number before them, as name servers send them by TCP.
    var framed: [UInt8] { [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + self }
}
