import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct UDPSocketTests {
    @Test(
        "a datagram arrives as it was sent, with the addresses of both ends", arguments: TestNetwork.allCases)
    func oneDatagram(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = server.receive()
            try loop.run(until: client.send("hello", to: server.localAddress))
            let datagram = try loop.run(until: received)
            #expect(String(decoding: datagram.bytes, as: UTF8.self) == "hello")
            #expect(datagram.source == client.localAddress)
            #expect(datagram.header.destination == server.localAddress)
            #expect(datagram.header.localAddress == server.localAddress)
            #expect(!datagram.isTruncated)
        }
    }

    @Test("a server answers in the closure that gets the bytes", arguments: TestNetwork.allCases)
    func echo(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let echo = server.forEachDatagram { bytes, header in
                server.send(bytes, to: header.source, from: header.localAddress)
            }
            let peer = try UDPSocket.connect(to: server.localAddress, on: loop)
            #expect(peer.peerAddress == server.localAddress)
            let answers = (0..<100).map { _ in peer.receive() }
            for number in 0..<100 { peer.send("\(number)") }
            let numbers = try loop.run(until: Future.all(answers)).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            #expect(numbers == (0..<100).map { "\($0)" })
            #expect(server.statistics.received == 100 && server.statistics.sent == 100)
            #expect(peer.statistics.sentBytes == 190 && peer.statistics.receivedBytes == 190)
            server.close()
            #expect(loop.outcome(of: echo).isSuccess)
            try loop.run(until: peer.close())
        }
    }

    @Test("datagrams of all sizes arrive whole", arguments: TestNetwork.allCases)
    func sizes(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            for size in [0, 1, 1472, 1473, 9000, 65_507] {
                let sent = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
                let received = server.receive()
                try loop.run(until: client.send(sent, to: server.localAddress))
                #expect(try loop.run(until: received).bytes == sent)
            }
        }
    }

    @Test("many datagrams of a size leave and arrive each for itself", arguments: TestNetwork.allCases)
    func segments(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try server.setReceiveBufferSize(1_000_000)
            var sizes: [Int] = []
            let received = server.forEachDatagram { bytes, _ in sizes.append(bytes.byteCount) }
            // The runs that the kernel may take as one: equal sizes, the last of which is shorter, an empty one.
            let sent =
                [Int](repeating: 1000, count: 70) + [
                    10, 1000, 1000, 0, 1000, 1200, 1200, 1000, 20_000, 20_000,
                ]
            let all = sent.map { Data(repeating: 7, count: $0) }
            try loop.run(until: client.send(contentsOf: all, to: server.localAddress))
            try loop.runUntil { sizes.count == sent.count }
            #expect(sizes == sent)
            #expect(client.statistics.sent == sent.count)
            server.close()
            _ = loop.outcome(of: received)
        }
    }

    @Test("a datagram goes to several peers with one call", arguments: TestNetwork.allCases)
    func toMany(network: TestNetwork) throws {
        try withSockets(network) { loop, first, client in
            let second = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let received = Future.all([first.receive(), second.receive()])
            let targets = [first, second].map { $0.localAddress }
            try loop.run(until: client.send(Data([1, 2, 3]), to: targets))
            #expect(try loop.run(until: received).map(\.bytes) == [Data([1, 2, 3]), Data([1, 2, 3])])
            try loop.run(until: client.send(Data(), to: []))
            try loop.run(until: client.send(contentsOf: [], to: targets[0]))
            try loop.run(until: second.close())
        }
    }

    @Test(
        "one of several that cannot be sent is told, and the others are sent", arguments: TestNetwork.allCases
    )
    func partly(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let received = Future.all([server.receive(), server.receive()])
            let sizes = [3, 65_508, 4]
            let sent = client.send(contentsOf: sizes.map { Data(count: $0) }, to: server.localAddress)
            #expect(
                "\(loop.failure(of: sent)!)"
                    == "a datagram of 65508 bytes cannot be sent: the limit is 65507; send it in parts"
            )
            let datagrams = try loop.run(until: received)
            #expect(datagrams.map(\.bytes.count) == [3, 4])
        }
    }

    @Test(
        "a connected socket hears that its peer has no socket, and goes on", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            let client = try UDPSocket.connect(to: address, on: loop)
            let answer = client.receive()
            try loop.run(until: client.send("anybody?"))
            let error = try #require(loop.failure(of: answer) as? SystemError)
            #expect(error.code == .connectionRefused && error.peerAddress == address)
            #expect("\(error)" == "send ECONNREFUSED \(address): connection refused")
            // A second datagram is not blamed for the first.
            try loop.run(until: client.send("and now?"))
            #expect(loop.failure(of: client.receive()) as? SystemError == error)
            let again = try UDPSocket.bind(host: "127.0.0.1", port: address.port, on: loop)
            let late = client.receive()
            let echo = again.forEachDatagram { bytes, header in again.send(bytes, to: header.source) }
            try loop.run(until: client.send("hello"))
            #expect(try loop.run(until: late).bytes == Data("hello".utf8))
            #expect(client.statistics.unreachable == 2)
            try loop.run(until: client.close().and(again.close()).map { _ in })
            _ = loop.outcome(of: echo)
        }
    }

    @Test(
        "a socket of many peers tells which one has no socket, and loses nothing",
        arguments: TestNetwork.allCases)
    func refusedByOneOfMany(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            var unreachable: [SystemError] = []
            server.onUnreachable { unreachable.append($0) }
            let received = server.receive()
            server.send("hello", to: address)
            try loop.runUntil { !unreachable.isEmpty }
            #expect(unreachable.map(\.code) == [.connectionRefused])
            #expect(unreachable.map(\.peerAddress) == [address])
            client.send("still here", to: server.localAddress)
            #expect(try loop.run(until: received).bytes == Data("still here".utf8))
        }
    }

    @Test(
        "an error of the network is not taken for one of the next datagram, which leaves in the same callback",
        arguments: TestNetwork.allCases)
    func refusedBefore(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            var unreachable: [SystemError] = []
            client.onUnreachable { unreachable.append($0) }
            let waiting = client.receive()
            let unheard = (0..<5).map { _ in client.send(Data(count: 60_000), to: address) }
            #expect(client.statistics.sent == 5)
            let heard = (1...5).map { client.send(Data(count: $0), to: server.localAddress) }
            for sent in unheard + heard { try loop.run(until: sent) }
            try loop.runUntil { !unreachable.isEmpty }
            #expect(unreachable.allSatisfy { $0.code == .connectionRefused && $0.peerAddress == address })
            for size in 1...5 { #expect(try loop.run(until: server.receive()).bytes.count == size) }
            waiting.cancel()
            _ = loop.outcome(of: waiting)
        }
    }

    @Test("datagrams wait in the system until somebody asks for them", arguments: TestNetwork.allCases)
    func pulled(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            // Of growing sizes, which no kernel puts together.
            for size in 1...50 { client.send(Data(count: size), to: server.localAddress) }
            try loop.run(for: .milliseconds(5))
            #expect(server.statistics.received == 0)
            for size in 1...50 {
                #expect(try loop.run(until: server.receive()).bytes.count == size)
                #expect((size..<size + 16).contains(server.statistics.received))
            }
        }
    }

    @Test("datagrams that nobody reads are lost, and counted", arguments: TestNetwork.allCases)
    func dropped(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            try server.setReceiveBufferSize(10_000)
            let sends = (0..<1000).map { _ in client.send(Data(count: 1000), to: server.localAddress) }
            _ = try loop.run(until: Future.all(sends))
            try loop.run(for: .milliseconds(5))
            var count = 0
            let received = server.forEachDatagram { _, _ in count += 1 }
            try loop.run(for: .milliseconds(5))
            #expect(count > 0 && count < 1000)
            // The kernel counts those that it has put together as one.
            let dropped = server.statistics.dropped
            #expect(network == .virtual ? dropped == 1000 - count : dropped > 0)
            received.cancel()
        }
    }

    @Test("a receive that is cancelled loses no datagram", arguments: TestNetwork.allCases)
    func cancelled(network: TestNetwork) throws {
        try withSockets(network) { loop, server, client in
            let cancelled = server.receive()
            let received = server.receive()
            #expect(cancelled.cancel())
            client.send("kept", to: server.localAddress)
            let datagram = try loop.run(until: received)
            #expect(datagram.bytes == Data("kept".utf8))
            #expect(loop.outcome(of: cancelled).isCancellation)
        }
    }

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
            #expect(throws: SystemError.self) { try client.receiveBufferSize }
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
            let address = socket!.localAddress
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
        let late: [Result<Void, any Error>?] = [
            socket.receive().asVoid().ignoreFailure().result,
            socket.datagrams.makeAsyncIterator().pull().asVoid().ignoreFailure().result,
            socket.forEachDatagram { _, _ in }.ignoreFailure().result,
        ]
        #expect(late.map { $0?.failureText } == Array(repeating: "\(FutureError.shutDown)", count: 3))
    }

    @Test(
        "sockets of IPv6 and of both families", .enabled(if: loopbackHosts.contains("::1")),
        arguments: TestNetwork.allCases)
    func families(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let both = try UDPSocket.bind(host: "::", port: 0, on: loop)
            let port = both.localAddress.port
            let four = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let six = try UDPSocket.bind(host: "::1", port: 0, on: loop)
            let echo = both.forEachDatagram { bytes, header in
                both.send(bytes, to: header.source, from: header.localAddress)
            }
            four.send("four", to: try SocketAddress(host: "127.0.0.1", port: port))
            let first = try loop.run(until: four.receive())
            #expect(first.bytes == Data("four".utf8) && first.source?.host == "127.0.0.1")
            six.send("six", to: try SocketAddress(host: "::1", port: port))
            #expect(try loop.run(until: six.receive()).bytes == Data("six".utf8))
            // An IPv4 address is one that the socket of both families can send to.
            try loop.run(until: both.send("back", to: four.localAddress))
            #expect(try loop.run(until: four.receive()).bytes == Data("back".utf8))
            #expect(
                complaint { try loop.run(until: four.send("x", to: six.localAddress)) }
                    == "\(four) cannot send to \(six.localAddress), which is of another family; use a socket on an "
                    + "IPv6 address")
            #expect(
                complaint { try loop.run(until: six.send("x", to: four.localAddress)) }
                    == "\(six) cannot send to \(four.localAddress), which is of another family; use a socket on an "
                    + "IPv4 address, or on ::")
            try loop.run(until: Future.all([both.close(), four.close(), six.close()]).map { _ in })
            _ = loop.outcome(of: echo)
        }
    }

    @Test("a wildcard socket tells at which address a datagram came", arguments: TestNetwork.allCases)
    func wildcard(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: loop)
            let client = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let target = try SocketAddress(host: "127.0.0.9", port: server.localAddress.port)
            client.send("hello", to: target)
            let datagram = try loop.run(until: server.receive())
            #expect(datagram.header.destination == target)
            #expect(datagram.header.localAddress == target)
            server.send("hello", to: datagram.source, from: datagram.header.localAddress)
            #expect(try loop.run(until: client.receive()).source == target)
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("connecting by name", arguments: TestNetwork.allCases)
    func names(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            let port = server.localAddress.port
            let client = try loop.run(until: UDPSocket.connect(host: "localhost", port: port, on: loop))
            #expect(client.peerAddress == server.localAddress)
            let received = server.receive()
            client.send("hello")
            #expect(try loop.run(until: received).source == client.localAddress)
            try loop.run(until: client.close())
        }
    }
}
