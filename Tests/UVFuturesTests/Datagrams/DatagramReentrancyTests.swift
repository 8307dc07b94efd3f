import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

/// What code of users does with a socket from within a call of that socket, in the context `immediate`.
enum DatagramDeed: String, CaseIterable, CustomTestStringConvertible {
    case send, sendMuch, receive, iterate, cancel, close, release, read

    /// What can be done in `network`, where no socket has a descriptor if it is simulated.
    static func possible(in network: TestNetwork) -> [Self] {
        allCases.filter { $0 != .release || network != .virtual }
    }

    var testDescription: String { rawValue }

    /// Does it. `pending` is a future of the socket that is pending.
    func callAsFunction(_ socket: DatagramSocket, to target: SocketAddress?, pending: Future<Datagram>) {
        switch self {
        case .send: socket.send("more", to: target).ignoreFailure()
        case .sendMuch:
            for _ in 0..<6 { socket.send(Data(count: 60_000), to: target).ignoreFailure() }
        case .receive: socket.receive().ignoreFailure()
        case .iterate: socket.forEachDatagram { _, _ in }.ignoreFailure()
        case .cancel: pending.cancel()
        case .close: socket.close()
        case .release: if let descriptor = try? socket.release() { Glibc.close(descriptor) }
        case .read:
            _ = (socket.bufferedBytes, socket.statistics, socket.isOpen)
            socket.writable.ignoreFailure()
        }
    }
}

struct DatagramReentrancyTests: UsesUnixSockets {
    @Test(
        "a socket that hears of an earlier datagram while it sends the next one goes on",
        arguments: TestNetwork.allCases)
    func repeated(network: TestNetwork) throws {
        try withUnreachable(network) { loop, client in
            try loop.run(until: client.send("first"))
            try loop.run(for: .milliseconds(50))
            let answer = client.receive()
            let again = client.send("again")
            let error = try #require(loop.failure(of: answer) as? SystemError)
            #expect(error.code == .connectionRefused && error.peerAddress == client.peerAddress)
            #expect(loop.outcome(of: again).isSuccess)
            #expect(client.statistics.sent == 2 && client.isOpen)
        }
    }

    @Test(
        "code that hears of an earlier datagram at once does with the socket what it likes",
        arguments: TestNetwork.allCases.flatMap { network in
            DatagramDeed.possible(in: network).map { (network, $0) }
        })
    func report(network: TestNetwork, deed: DatagramDeed) throws {
        try withUnreachable(network) { loop, client in
            try loop.run(until: client.send("first"))
            try loop.run(for: .milliseconds(50))
            let (answer, other) = (client.receive(), client.receive())
            let heard = answer.mapResult(on: .immediate) { result in
                deed(client, to: nil, pending: other)
                return result.failureText
            }
            let again = client.send("again")
            #expect(try loop.run(until: heard)?.contains("connection refused") == true)
            let sent = loop.outcome(of: again)
            if deed != .close && deed != .release { #expect(sent.isSuccess && client.isOpen) }
            other.cancel()
            _ = loop.outcome(of: other)
        }
    }

    @Test(
        "code that hears at once that a datagram was sent does with the socket what it likes",
        arguments: TestNetwork.allCases.flatMap { network in
            DatagramDeed.possible(in: network).map { (network, $0) }
        })
    func sent(network: TestNetwork, deed: DatagramDeed) throws {
        try withSockets(network) { loop, server, client in
            try check(deed, from: client, to: server.localAddress, on: loop, succeeds: true)
        }
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/server", on: loop)
            try check(deed, from: client, to: nil, on: loop, succeeds: true)
            try loop.run(until: server.close())
        }
    }

    @Test(
        "code that hears at once that a datagram was refused does with the socket what it likes",
        arguments: TestNetwork.allCases.flatMap { network in
            DatagramDeed.possible(in: network).map { (network, $0) }
        })
    func refused(network: TestNetwork, deed: DatagramDeed) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/server", on: loop)
            try loop.run(until: server.close())
            try check(deed, from: client, to: nil, on: loop, succeeds: false)
        }
    }

    /// Sends two datagrams, of which the first does `deed` when it has left. Both end as they should, and in order.
    private func check(
        _ deed: DatagramDeed, from client: DatagramSocket, to target: SocketAddress?, on loop: EventLoop,
        succeeds: Bool
    ) throws {
        let pending = client.receive()
        var order: [Int] = []
        let sends = [1, 2].map { number in
            client.send("\(number)", to: target).mapResult(on: .immediate) { result in
                if number == 1 { deed(client, to: target, pending: pending) }
                order.append(number)
                return result.isSuccess
            }
        }
        for sent in sends { #expect(try loop.run(until: sent) == succeeds) }
        #expect(order == [1, 2])
        try loop.run(until: client.close())
        #expect(loop.outcome(of: pending).isCancellation)
        #expect(client.bufferedBytes == 0)
    }

    /// Runs `body` with a socket that is connected to a port that nobody has.
    private func withUnreachable(
        _ network: TestNetwork, _ body: (EventLoop, UDPSocket) throws -> Void
    ) throws {
        try withLoop(network) { loop in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            let client = try UDPSocket.connect(to: address, on: loop)
            try body(loop, client)
            try loop.run(until: client.close())
        }
    }
}
