import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

/// What keeps a socket alive that nobody holds.
struct DatagramHoldTests: UsesUnixSockets {
    struct Trouble: Error {}

    /// The ends of what a socket works for.
    enum End: CaseIterable {
        case sent, received, receiveCancelled, receiveFailed, loopCancelled, loopFailed, iterationCancelled
    }

    @Test(
        "a socket that nobody holds is closed as soon as it has nothing to do any more",
        arguments: End.allCases,
        TestNetwork.allCases)
    func closed(end: End, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let peer = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            try loop.run(until: gone.close())
            var socket: UDPSocket? =
                end == .receiveFailed
                ? try UDPSocket.connect(to: gone.localAddress, on: loop)
                : try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            weak let observer = socket
            let address = socket!.localAddress
            let work: Future<Void>
            switch end {
            case .sent: work = socket!.send("x", to: peer.localAddress)
            case .received, .receiveCancelled: work = socket!.receive().asVoid()
            case .receiveFailed:
                work = socket!.receive().asVoid()
                socket!.send("x")
            case .loopCancelled: work = socket!.forEachDatagram { _, _ in }
            case .loopFailed: work = socket!.forEachDatagram { _, _ in throw Trouble() }
            case .iterationCancelled:
                let datagrams = socket!.datagrams
                work = Future(on: loop) { for try await _ in datagrams {} }
                try loop.run(for: .milliseconds(1))
            }
            socket = nil
            #expect(observer != nil)
            switch end {
            case .sent, .receiveFailed: break
            case .received, .loopFailed: peer.send("x", to: address)
            case .receiveCancelled, .loopCancelled, .iterationCancelled: work.cancel()
            }
            #expect(loop.outcome(of: work).isSuccess == [.sent, .received].contains(end))
            try loop.runUntil { observer == nil }
            try loop.run(until: peer.close())
        }
    }

    @Test(
        "a socket that has received what was awaited keeps its loop no longer",
        arguments: TestNetwork.allCases,
        [true, false])
    func answered(network: TestNetwork, isIteration: Bool) throws {
        try withLoop(network) { loop in
            let sockets = try (0..<2).map { _ in try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop) }
            let datagrams = sockets[0].datagrams
            let work =
                isIteration
                ? Future(on: loop) { for try await _ in datagrams { break } } : sockets[0].receive().asVoid()
            try loop.run(for: .milliseconds(1))
            sockets[1].send("x", to: sockets[0].localAddress)
            try loop.run(until: work)
            try loop.run()
            #expect(sockets[0].isOpen)
            for socket in sockets { try loop.run(until: socket.close()) }
        }
    }

    @Test("a socket that nobody holds sends what waits in its queue", arguments: TestNetwork.allCases)
    func queue(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/slow", on: loop)
            var client: UnixDatagramSocket? = try .connect(path: directory + "/slow", on: loop)
            weak let observer = client
            let last = (0..<500).map { client!.send("\($0)") }.last!
            client = nil
            try loop.run(for: .milliseconds(5))
            #expect(observer != nil && !last.isCompleted)
            for number in 0..<500 {
                #expect(try loop.run(until: server.receive()).bytes == Data("\(number)".utf8))
            }
            try loop.run(until: last)
            try loop.runUntil { observer == nil }
            try loop.run(until: server.close())
        }
    }
}
