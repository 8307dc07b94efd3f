import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramSequenceTests {
    @Test(
        "a loop of a body gets each datagram, and ends when the socket is closed",
        arguments: TestNetwork.allCases)
    func body(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let texts = Future(on: loop) {
                var texts: [String] = []
                for try await datagram in server.datagrams {
                    texts.append(String(decoding: datagram.bytes, as: UTF8.self))
                    try await server.send(datagram.bytes, to: datagram.source).value
                }
                return texts
            }
            for number in 0..<40 { client.send("\(number)", to: server.localAddress) }
            for number in 0..<40 {
                #expect(try loop.run(until: client.receive()).bytes == Data("\(number)".utf8))
            }
            server.close()
            #expect(try loop.run(until: texts) == (0..<40).map { "\($0)" })
        }
    }

    @Test("pulling gets each datagram, and nil when the socket is closed", arguments: TestNetwork.allCases)
    func pulling(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let iterator = server.datagrams.makeAsyncIterator()
            let first = iterator.pull()
            client.send("x", to: server.localAddress)
            #expect(try loop.run(until: first)?.bytes == Data("x".utf8))
            let last = iterator.pull()
            server.close()
            #expect(try loop.run(until: last) == nil)
        }
    }

    @Test("what a loop has left is for whoever receives next", arguments: TestNetwork.allCases)
    func leaving(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            for size in 1...10 { client.send(Data(count: size), to: server.localAddress) }
            let first = Future(on: loop) {
                for try await datagram in server.datagrams { return datagram.bytes.count }
                return 0
            }
            #expect(try loop.run(until: first) == 1)
            for size in 2...10 { #expect(try loop.run(until: server.receive()).bytes.count == size) }
        }
    }

    @Test("a cancelled body leaves the socket as it is", arguments: TestNetwork.allCases)
    func cancelling(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let body = Future(on: loop) { for try await _ in server.datagrams {} }
            try loop.run(for: .milliseconds(1))
            #expect(body.cancel())
            _ = loop.outcome(of: body)
            client.send("x", to: server.localAddress)
            #expect(try loop.run(until: server.receive()).bytes.count == 1)
        }
    }

    @Test("a shutdown of the loop fails a body that waits")
    func shutdown() throws {
        let loop = EventLoop.virtual()
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        let body = Future(on: loop) { for try await _ in socket.datagrams {} }
        loop.advance(by: .zero)
        loop.shutdown()
        #expect(body.result?.failureText == "\(FutureError.shutDown)")
    }
}
