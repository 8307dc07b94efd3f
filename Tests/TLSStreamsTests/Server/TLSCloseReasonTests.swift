import Foundation
import FuturesTesting
import TLSStreams
import Testing

/// A limit that ends an encrypted connection, on a server that sets nothing else.
private enum Ending: String, CaseIterable, Codable {
    case framing, read, idle, lifetime, write, writeCap

    var limits: StreamLimits {
        var limits = StreamLimits()
        limits.closeTimeout = .milliseconds(20)
        limits.framingTimeout = self == .framing ? .milliseconds(20) : nil
        limits.readTimeout = self == .read ? .milliseconds(20) : nil
        limits.idleTimeout = self == .idle ? .milliseconds(20) : nil
        limits.lifetime = self == .lifetime ? .milliseconds(20) : nil
        limits.writeTimeout = self == .write ? .milliseconds(20) : nil
        if self == .writeCap { limits.writeCap = 100_000 }
        return limits
    }

    var reason: CloseReason {
        switch self {
        case .framing: .timedOut(.framing)
        case .read: .timedOut(.read)
        case .idle: .timedOut(.idle)
        case .lifetime: .timedOut(.lifetime)
        case .write: .timedOut(.write)
        case .writeCap: .backpressureExceeded
        }
    }

    /// What the handler of the connection does until the limit passes.
    func meet(_ connection: ByteStream) -> Future<Void> {
        switch self {
        case .write, .writeCap:
            return connection.read().flatMap { _ in
                for _ in 0..<100 where connection.failure == nil {
                    connection.write(Data(count: 100_000)).ignoreFailure()
                }
                return connection.loop.sleep(for: .seconds(60))
            }
        default: return connection.readLine().map { _ in }
        }
    }
}

private enum Kind: CaseIterable {
    case plain, encrypted, upgraded

    func serve(_ context: TLSContext, _ options: ListenOptions, _ ending: Ending) throws -> TCPServer {
        let loop = context.loop
        switch self {
        case .plain:
            return try TCPServer.listen(host: "127.0.0.1", port: 0, options: options, on: loop) {
                ending.meet($0)
            }
        case .encrypted:
            return try TLSServer.listen(host: "127.0.0.1", port: 0, context: context, options: options) {
                ending.meet($0)
            }.tcp
        case .upgraded:
            return try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                plain.startTLS(server: context, limits: options.limits).flatMap { ending.meet($0) }
            }
        }
    }
}

struct TLSCloseReasonTests {
    @Test(
        "a limit that ends an encrypted connection is counted by its name, as that of a plain one is",
        arguments: TestNetwork.allCases, Ending.allCases)
    fileprivate func limits(network: TestNetwork, ending: Ending) throws {
        for kind in Kind.allCases {
            try withLoop(network) { loop in
                var options = ListenOptions()
                options.limits = ending.limits
                let server = try kind.serve(try loop.server(), options, ending)
                server.onConnectionError = { _ in }
                let port = server.localAddress.port
                let client: ByteStream
                if kind == .plain {
                    client = try loop.run(
                        until: TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
                } else {
                    client = try loop.run(
                        until: TLSConnection.connect(
                            host: "127.0.0.1", port: port, context: try loop.client()))
                }
                client.write("half a line")
                while server.statistics.closes.isEmpty {
                    try loop.run(until: loop.sleep(for: .milliseconds(5)))
                }
                #expect(server.statistics.closes == [ending.reason: 1])
                client.abort()
                _ = try loop.run(until: server.shutdown(within: .zero))
            }
        }
    }
}
