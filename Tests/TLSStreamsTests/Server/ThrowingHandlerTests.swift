import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct ThrowingHandlerTests {
    private struct Unwilling: Error {}

    @Test(
        "a handler that throws loses its connection, and the server tells of the error",
        arguments: [false, true])
    func throwing(isOwning: Bool) throws {
        try withLoop { loop in
            let context = try loop.server()
            let server =
                if isOwning {
                    try TLSServer.listen(
                        host: "127.0.0.1", port: 0, context: context, owning: { _ in throw Unwilling() })
                } else {
                    try TLSServer.listen(host: "127.0.0.1", port: 0, context: context) { _ -> Future<Void> in
                        throw Unwilling()
                    }
                }
            var errors: [any Error] = []
            server.onConnectionError = { errors.append($0) }
            let port = server.localAddress.port
            let client = try loop.run(
                until: TLSConnection.connect(host: "127.0.0.1", port: port, context: loop.client()))
            #expect(loop.failure(of: client.read())?.isDisconnection == true)
            #expect(errors.count == 1 && errors.first is Unwilling)
            #expect(server.handshakes.completed == 1)
            let summary = try loop.run(until: server.drain(within: .seconds(5)))
            #expect(summary.aborted == 0)
        }
    }
}
