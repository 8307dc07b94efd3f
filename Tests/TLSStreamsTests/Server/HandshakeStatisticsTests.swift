import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct HandshakeStatisticsTests {
    @Test(
        "a server counts clients that are silent, and handshakes under way, completed, and of sessions resumed"
    )
    func counts() throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in loop.sleep(for: .milliseconds(10)).map { nil } }
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: loop.server(configuration)
            ) { connection in
                connection.forEachSpan { connection.write($0) }
            }
            let (context, port) = (try loop.client(), server.localAddress.port)
            let silent = try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
            for round in 1...3 {
                let connecting = TLSConnection.connect(host: "127.0.0.1", port: port, context: context)
                loop.advance(by: .milliseconds(5))
                #expect(server.handshakes.silent == 1 && server.handshakes.underWay == 1)
                let client = try loop.run(until: connecting)
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
                #expect(server.handshakes.completed == round && server.handshakes.resumed == round - 1)
                #expect(server.handshakes.silent == 1 && server.handshakes.underWay == 0)
                try loop.run(until: client.close())
            }
            silent.abort()
            _ = try loop.run(until: server.drain(within: .seconds(5)))
            #expect(server.handshakes.silent == 0)
        }
    }
}
