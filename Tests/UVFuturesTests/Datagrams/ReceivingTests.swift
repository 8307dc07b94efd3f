import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct ReceivingTests {
    @Test(
        "calls of receive complete in their order, without those that were cancelled",
        arguments: TestNetwork.allCases)
    func order(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = (0..<10).map { _ in server.receive() }
            for number in [0, 4, 9] { #expect(received[number].cancel()) }
            for number in 0..<7 { client.send("\(number)", to: server.localAddress) }
            let rest = [1, 2, 3, 5, 6, 7, 8].map { received[$0] }
            let texts = try loop.run(until: Future.all(rest)).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            #expect(texts == (0..<7).map { "\($0)" })
            for number in [0, 4, 9] { #expect(loop.outcome(of: received[number]).isCancellation) }
        }
    }

    @Test("one receives at a time, and the other is told", arguments: TestNetwork.allCases)
    func oneAtATime(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let pending = "\(DatagramError.receivePending)"
            let received = server.receive()
            #expect("\(loop.failure(of: server.forEachDatagram { _, _ in })!)" == pending)
            client.send("first", to: server.localAddress)
            #expect(try loop.run(until: received).bytes == Data("first".utf8))
            let reading = server.forEachDatagram { _, _ in }
            #expect("\(loop.failure(of: server.receive())!)" == pending)
            #expect("\(loop.failure(of: server.datagrams.makeAsyncIterator().pull())!)" == pending)
            let body = Future(on: loop) { for try await _ in server.datagrams {} }
            #expect("\(loop.failure(of: body)!)" == pending)
            #expect("\(loop.failure(of: server.forEachDatagram { _, _ in })!)" == pending)
            #expect(reading.cancel())
            #expect(loop.outcome(of: reading).isCancellation)
            client.send("second", to: server.localAddress)
            #expect(try loop.run(until: server.receive()).bytes == Data("second".utf8))
        }
    }

    @Test(
        "what was read ahead is for the iteration and the forEachDatagram that follow",
        arguments: TestNetwork.allCases)
    func ahead(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            for size in 1...10 { client.send(Data(count: size), to: server.localAddress) }
            #expect(try loop.run(until: server.receive()).bytes.count == 1)
            #expect(server.statistics.received == 10)
            let iterator = server.datagrams.makeAsyncIterator()
            #expect(try loop.run(until: iterator.pull())?.bytes.count == 2)
            var sizes: [Int] = []
            let reading = server.forEachDatagram { bytes, _ in sizes.append(bytes.byteCount) }
            try loop.runUntil { sizes.count == 8 }
            #expect(sizes == Array(3...10))
            client.send(Data(count: 11), to: server.localAddress)
            try loop.runUntil { sizes.count == 9 }
            #expect(sizes.last == 11)
            reading.cancel()
        }
    }
}
