import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

/// The ways in which a server ends and tells its handlers before.
enum DrainWay: String, CaseIterable, Codable {
    case drain, signal

    func begin(_ server: SocketServer<SocketConnection>, _ network: TestNetwork, within time: Duration)
        -> Future<ShutdownSummary>
    {
        guard self == .signal else { return server.drain(within: time) }
        let end = server.drain(on: .user2, within: time)
        network.send(.user2, to: server.loop)
        return end
    }
}

/// A server, the connection that its handler got, and a client that has been answered.
func withServed(
    _ kind: (isUnix: Bool, network: TestNetwork), limits: StreamLimits = StreamLimits(),
    _ handler: @escaping (SocketConnection) -> Future<Void>,
    _ body: (SocketServer<SocketConnection>, _ served: SocketConnection, _ client: SocketConnection) throws ->
        Void
) throws {
    try withLoop(kind.network) { loop in
        var served: SocketConnection?
        let server = SocketServer<SocketConnection>(on: loop) { connection in
            served = connection
            return handler(connection)
        }
        let path = "@draining.\(getpid()).\(UInt64.random(in: 0 ... .max))"
        let client: SocketConnection
        if kind.isUnix {
            try server.listen(path: path, options: ListenOptions(limits: limits))
            client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
        } else {
            try server.listen(host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits))
            client = try loop.connect(to: server.localAddress)
        }
        client.write("hello\n")
        #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
        try loop.run(for: .milliseconds(2))
        try body(server, served!, client)
        served = nil
    }
}
