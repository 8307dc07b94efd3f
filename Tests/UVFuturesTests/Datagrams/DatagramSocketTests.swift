import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramSocketTests {
    @Test("close ends everything that waits, and sends what was queued", arguments: TestNetwork.allCases)
    func close(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = server.receive()
            let last = client.send("last words", to: server.localAddress)
            let pending = client.receive()
            try loop.run(until: client.close())
            #expect(loop.outcome(of: last).isSuccess)
            #expect(loop.outcome(of: pending).isCancellation)
            #expect(try loop.run(until: received).bytes == Data("last words".utf8))
            #expect(!client.isOpen)
            #expect(
                loop.failure(of: client.send("x", to: server.localAddress)) as? DatagramError == .socketClosed
            )
            #expect(loop.failure(of: client.writable) as? DatagramError == .socketClosed)
            #expect(loop.failure(of: client.forEachDatagram { _, _ in }) as? DatagramError == .socketClosed)
            #expect(loop.outcome(of: client.receive()).isCancellation)
            #expect(throws: UVError.self) { try client.receiveBufferSize }
            try loop.run(until: client.close())
        }
    }

    @Test(
        "a socket that nobody holds is closed, unless somebody waits for datagrams",
        arguments: TestNetwork.allCases)
    func released(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            var socket: UDPSocket? = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            weak let observer = socket
            let address = socket!.localAddress!
            let received = socket!.receive()
            socket = nil
            #expect(observer != nil)
            sender.send("hello", to: address)
            #expect(try loop.run(until: received).bytes == Data("hello".utf8))
            try loop.runUntil { observer == nil }
            try loop.run(until: sender.close())
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("the loop runs while a socket waits, and no longer", arguments: TestNetwork.allCases)
    func keepsLoopAlive(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try loop.run()
            let received = server.receive()
            client.send("hello", to: server.localAddress)
            try loop.run()
            #expect(received.isCompleted)
        }
    }

    @Test("a shutdown of the loop fails what waits", arguments: TestNetwork.allCases)
    func shutdown(network: TestNetwork) throws {
        let loop = try network.makeLoop()
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        let received = socket.receive()
        let sent = socket.send("x", to: socket.localAddress)
        loop.shutdown()
        #expect(received.result?.failureText == "\(FutureError.shutDown)")
        #expect(sent.isCompleted)
        #expect(socket.send("x", to: socket.localAddress).ignoreFailure().isCompleted)
        #expect(throws: FutureError.shutDown) { try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop) }
    }
}
