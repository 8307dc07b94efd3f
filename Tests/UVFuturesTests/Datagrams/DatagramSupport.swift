import FuturesTesting
import Testing
import UVFutures

/// Runs `body` with two sockets on a loop of its own.
func withSockets(
    _ network: TestNetwork, limits: DatagramLimits = DatagramLimits(), ignoringUnhandled: Bool = false,
    _ body: (EventLoop, UDPSocket, UDPSocket) throws -> Void
) throws {
    try withLoop(network, ignoringUnhandled: ignoringUnhandled) { loop in
        let server = try UDPSocket.bind(host: "127.0.0.1", port: 0, limits: limits, on: loop)
        let client = try UDPSocket.bind(host: "127.0.0.1", port: 0, limits: limits, on: loop)
        try body(loop, server, client)
        try loop.run(until: client.close().and(server.close()).map { _ in })
    }
}

extension Result where Failure == any Error {
    var isSuccess: Bool { if case .success = self { true } else { false } }
    var failureText: String? { if case .failure(let error) = self { "\(error)" } else { nil } }
}
