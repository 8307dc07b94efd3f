import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// What carries the bytes that a reset cuts off.
enum Carrier: String, CaseIterable, Codable, CustomTestStringConvertible {
    case tcp, unix, memory

    var testDescription: String { rawValue }

    /// Each carrier on each system.
    static let everywhere = TestNetwork.allCases.flatMap { network in allCases.map { ($0, network) } }

    func makePair(on loop: EventLoop, _ network: TestNetwork) throws -> (ByteStream, ByteStream) {
        switch self {
        case .tcp: return try loop.connectedPair()
        case .memory: return try MemoryStream.pair(on: loop)
        case .unix where network == .virtual:
            let listener = try UnixListener(path: "/pair", on: loop)
            let pair = try loop.run(
                until: UnixConnection.connect(path: "/pair", on: loop).and(listener.accept()))
            try loop.run(until: listener.close())
            return pair
        case .unix:
            var ends: [CInt] = [-1, -1]
            let types = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            #expect(unsafe socketpair(AF_UNIX, types, 0, &ends) == 0)
            return (
                try UnixConnection(adopting: ends[0], on: loop),
                try UnixConnection(adopting: ends[1], on: loop)
            )
        }
    }
}

/// Each way to read a stream to its end, or to the end of a message that does not come.
enum ReadingVerb: String, CaseIterable, Codable, CustomTestStringConvertible {
    case read, readToEnd, readExactly, readUntil, readLine, chunks, lines
    case forEachChunk, forEachChunkWaiting, forEachSpan, forEachSpanWaiting, pipe

    var testDescription: String { rawValue }

    /// Reads until the stream has no more, and gives what it has taken to `take`.
    func run(_ stream: ByteStream, _ sink: ByteStream, _ take: @escaping (Data) -> Void) -> Future<Void> {
        let loop = stream.loop
        func readAll<Element>(_ next: @escaping () -> Future<Element>, _ data: @escaping (Element) -> Data?)
            -> Future<Void>
        {
            next().flatMap { element in
                guard let part = data(element) else { return loop.succeeded() }
                take(part)
                return readAll(next, data)
            }
        }
        let (lineFeed, newLine) = (Data("\n".utf8), Data("\n".utf8))
        switch self {
        case .read: return readAll(stream.read) { $0.isEmpty ? nil : $0 }
        case .readToEnd: return stream.readToEnd().map(take)
        case .readExactly: return readAll({ stream.read(exactly: 4) }, { $0 })
        case .readUntil: return readAll({ stream.read(until: lineFeed) }, { $0.map { $0 + newLine } })
        case .readLine: return readAll({ stream.readLine() }, { $0.map { $0 + newLine } })
        case .chunks: return Future(on: loop) { for try await chunk in stream.chunks { take(chunk) } }
        case .lines: return Future(on: loop) { for try await line in stream.lines() { take(line + newLine) } }
        case .forEachChunk: return stream.forEachChunk { take($0) }
        case .forEachChunkWaiting:
            return stream.forEachChunk { chunk in
                take(chunk)
                return loop.sleep(for: .milliseconds(1))
            }
        case .forEachSpan: return stream.forEachSpan { take(Data(copying: $0)) }
        case .forEachSpanWaiting:
            return stream.forEachSpan { bytes in
                take(Data(copying: bytes))
                return loop.submit(on: .nextTurn) {}
            }
        case .pipe: return stream.pipe(to: sink).asVoid()
        }
    }
}

/// A connection that a reset cuts off is not one that has ended.
struct TruncationTests {
    /// When the bytes and the reset come.
    enum Arrival: CaseIterable {
        /// Somebody waits for them.
        case awaited
        /// Nobody has begun to read, and the loop has noticed.
        case unread
        /// They meet a read that was given up.
        case afterCancel
        /// This side finds out by a write.
        case found
    }

    // Not stored: a leak detector does not see into a global `Data`.
    private static var sent: Data { Data("first\nsecond\nth".utf8) }

    @Test(
        "no way to read succeeds on what a reset has cut off, and what came before can be read",
        arguments: Carrier.everywhere, ReadingVerb.allCases)
    func truncated(place: (Carrier, TestNetwork), verb: ReadingVerb) throws {
        let (carrier, network) = place
        for arrival in Arrival.allCases {
            try withLoop(network, ignoringUnhandled: true) { loop in
                let (client, server) = try carrier.makePair(on: loop, network)
                let (sink, drain) = try MemoryStream.pair(on: loop)
                // A UNIX socket resets only where something is left unread.
                try loop.run(until: server.write("unread"))
                var taken = Data()
                func start() -> Future<Void> { verb.run(server, sink) { taken += $0 } }

                let early = arrival == .awaited ? start() : loop.succeeded()
                if arrival == .awaited { try loop.run(until: loop.submit(on: .nextTurn) {}) }
                if arrival == .afterCancel {
                    let read = server.read(exactly: 1_000)
                    try loop.run(until: loop.submit(on: .nextTurn) {})
                    read.cancel()
                }
                client.write(Self.sent)
                client.abort()
                if arrival == .unread {
                    #expect(loop.failure(ofEnd: server)?.isDisconnection == true, "\(arrival)")
                }
                if arrival == .found {
                    // In memory and in a simulated network a reset takes a turn to arrive.
                    if carrier == .memory || network == .virtual && carrier == .tcp {
                        try loop.run(until: loop.submit(on: .nextTurn) {})
                    }
                    #expect(loop.failure(of: server.write("lost"))?.isDisconnection == true, "\(arrival)")
                }
                let ended = arrival == .awaited ? early : start()
                let error = loop.failure(of: ended)
                #expect(error?.isDisconnection == true, "\(arrival): \(String(describing: error))")
                #expect(error as? StreamError == nil, "\(arrival)")

                if verb == .pipe { taken += loop.received(by: drain, from: sink) }
                while case .success(let data) = loop.outcome(of: server.read()) {
                    guard !data.isEmpty else {
                        Issue.record("\(arrival): a read has come to an end")
                        break
                    }
                    taken += data
                }
                #expect(taken == Self.sent, "\(arrival)")
                #expect(loop.failure(of: server.read())?.isDisconnection == true, "\(arrival)")
                _ = loop.outcome(of: server.closed)
                _ = loop.outcome(of: client.closed)
            }
        }
    }

    @Test("a reset in any place of framed messages is seen", arguments: Carrier.everywhere)
    func positions(carrier: Carrier, network: TestNetwork) throws {
        let messages = Data("one\ntwo\nthree\n".utf8)
        let tries = isSoaking ? 10_000 : messages.count + 1
        try withLoop(network, ignoringUnhandled: true) { loop in
            for number in 0..<tries {
                let count = number % (messages.count + 1)
                let (client, server) = try carrier.makePair(on: loop, network)
                try loop.run(until: server.write("unread"))
                var lines: [Data] = []
                let ended = Future(on: loop) { for try await line in server.lines() { lines.append(line) } }
                if count > 0 { client.write(messages.prefix(count)) }
                client.abort()
                #expect(loop.failure(of: ended)?.isDisconnection == true, "after \(count) bytes")
                let whole = messages.prefix(count).split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                #expect(lines == whole.dropLast().map { Data($0) }, "after \(count) bytes")
                _ = loop.outcome(of: server.closed)
            }
        }
    }

    /// Those that do not wait for anything when the end comes.
    private static let prompt: [ReadingVerb] = [
        .read, .readToEnd, .readExactly, .readUntil, .readLine, .chunks, .lines, .forEachChunk, .forEachSpan,
    ]

    @Test("an orderly end that a reset follows is an end", arguments: prompt, TestNetwork.allCases)
    func orderly(verb: ReadingVerb, network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            let (client, server) = try Carrier.tcp.makePair(on: loop, network)
            let (sink, drain) = try MemoryStream.pair(on: loop)
            var taken = Data()
            let ended = verb.run(server, sink) { taken += $0 }
            client.write("one\ntwo\n")
            client.shutdownWrite().whenSuccess { client.abort() }
            #expect(loop.failure(of: ended) == nil)
            #expect(taken == Data("one\ntwo\n".utf8))
            // On which nobody reads any more.
            try loop.runUntil { !server.isOpen }
            let error = loop.failure(ofEnd: server)
            #expect(error?.isDisconnection == true, "\(String(describing: error))")
            _ = loop.outcome(of: sink.close().and(drain.close()))
        }
    }
}

extension EventLoop {
    /// What has been passed on to `sink`, of which `drain` is the other end.
    fileprivate func received(by drain: ByteStream, from sink: ByteStream) -> Data {
        let ended = sink.close()
        let result = (try? run(until: drain.readToEnd())) ?? Data()
        closeAll(drain)
        _ = outcome(of: ended)
        return result
    }
}
