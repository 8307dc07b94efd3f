import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// Many clients at once, each of which checks every byte that comes back.
struct StressTests {
    @Test(
        "every client that survives gets back exactly its bytes, and nothing is left",
        arguments: TestNetwork.allCases)
    func stress(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [seed = SeededGenerator.seed as UInt64, network] in
            raiseDescriptorLimit()
            let before = openSockets()
            let size = isSoaking ? 1_000 : 200 / slowShare
            let bytes = pattern(2 * Client.period)
            try withLoop(network) { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    connection.id.isMultiple(of: 2)
                        ? connection.forEachChunk { chunk in connection.write(chunk) }
                        : connection.forEachSpan { bytes in connection.write(bytes) }
                }
                var broken = 0
                server.onConnectionError = { _ in broken += 1 }
                var generator = SeededGenerator(seed: seed)
                let clients = (0..<size).map { number in
                    Client(number, bytes, messages: size, seed: generator.next(), server.localAddress, loop)
                }
                let survivors = try loop.run(until: Future.all(clients.map { $0.run() })).count { $0 }
                let summary = try loop.run(until: server.shutdown(within: .seconds(10)))
                #expect(survivors == clients.count { !$0.isToReset }, "seed \(seed)")
                #expect(broken <= size - survivors, "seed \(seed)")
                #expect(summary.aborted == 0, "seed \(seed)")
                #expect(loop.statistics.handles == 0, "seed \(seed)")
            }
            #expect(openSockets() == before, "seed \(seed)")
        }
    }
}

private func raiseDescriptorLimit() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

private final class Client {
    /// After so many bytes the sequence that a client sends begins again.
    static let period = 65_521

    private let number: Int
    /// The sequence, twice. Each client starts elsewhere in it.
    private let bytes: Data
    private let messages: Int
    private let address: SocketAddress
    private let loop: EventLoop
    private var generator: SeededGenerator
    private var resetAt: Int?
    private var sent = 0
    private var received = 0

    init(
        _ number: Int, _ bytes: Data, messages: Int, seed: UInt64, _ address: SocketAddress, _ loop: EventLoop
    ) {
        self.number = number
        self.bytes = bytes
        self.messages = messages
        self.address = address
        self.loop = loop
        generator = SeededGenerator(seed: seed)
        if Int.random(in: 0..<20, using: &generator) == 0 {
            resetAt = Int.random(in: 0..<messages, using: &generator)
        }
    }

    var isToReset: Bool { resetAt != nil }

    /// Whether it has survived.
    func run() -> Future<Bool> {
        TCPConnection.connect(host: address.host, port: address.port, timeout: .seconds(60), on: loop)
            .flatMap { [self] connection in
                let reading = connection.forEachChunk { [self] chunk in check(chunk) }
                let writing = send(0, to: connection).flatMap { connection.shutdownWrite() }
                return reading.and(writing).flatMap { _ in connection.close() }.map { [self] in
                    precondition(received == sent, "client \(number) got \(received) bytes of \(sent)")
                    return true
                }
            }
            .recover { [self] error in
                precondition(
                    isToReset && error as? StreamError == .connectionClosed, "client \(number): \(error)")
                return false
            }
    }

    private func send(_ message: Int, to connection: TCPConnection) -> Future<Void> {
        if message == resetAt {
            return connection.abort().flatMap { [loop] in loop.failed(StreamError.connectionClosed) }
        }
        if message == messages { return loop.succeeded() }
        return loop.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &generator)))
            .flatMap { [self] in
                let count = Int.random(in: 1...4096, using: &generator)
                let start = position(sent)
                sent += count
                return connection.write(bytes[start..<start + count])
            }
            .flatMap { [self] in send(message + 1, to: connection) }
    }

    private func check(_ chunk: Data) {
        var rest = chunk[...]
        while !rest.isEmpty {
            let start = position(received)
            let count = min(rest.count, Self.period)
            precondition(
                rest.prefix(count) == bytes[start..<start + count], "client \(number), byte \(received)")
            received += count
            rest = rest.dropFirst(count)
        }
    }

    private func position(_ offset: Int) -> Int { (number * 7_919 + offset) % Self.period }
}
