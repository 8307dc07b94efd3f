import CFuturesSystem
import CLibUV
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// Peers that send without end, and others beside them.
struct FairnessTests {
    /// What a message costs the server.
    enum Message: CaseIterable {
        case cheap, dear
    }

    /// The ways in which a server takes messages.
    enum Serving: CaseIterable {
        case forEachMessage, withFuture, body, readLine
    }

    private final class Counts {
        var messages = 0
        /// The most messages between two looks of the loop at all its descriptors.
        var most = 0
        private var before = 0
        private var isOver = false

        func watchRounds(of loop: EventLoop) {
            most = max(most, messages - before)
            before = messages
            if !isOver { loop.later(on: .nextTurn) { self.watchRounds(of: loop) } }
        }

        func stop() { isOver = true }
    }

    private static let line = "PING\n"

    private func serve(
        _ serving: Serving, _ connection: TCPConnection, _ handle: @escaping () -> Void
    ) -> Future<Void> {
        switch serving {
        case .forEachMessage: connection.forEachMessage(decodedBy: Ping()) { _, _ in handle() }
        case .withFuture:
            connection.forEachMessage(decodedBy: Ping()) { _, _ in
                handle()
                return connection.loop.submit {}
            }
        case .body:
            Future(on: connection.loop) { for try await _ in connection.lines() { handle() } }
        case .readLine:
            Future(on: connection.loop) { while try await connection.readLine().value != nil { handle() } }
        }
    }

    // Bounds of counts, not of times: a message takes 50 µs or more, so a share is ten of them at most, and the clock is read
    // after 32 of them at the latest. Without a share, a block has 6,500 messages, and a peer fills 32 of them.
    @Test(
        "a peer that floods has its share of each round, and not more, however its messages are taken",
        arguments: Serving.allCases)
    func rounds(serving: Serving) throws {
        try withLoop { loop in
            let flooders = 4
            let counts = Counts()
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                serve(serving, connection) {
                    counts.messages += 1
                    spin(for: .microseconds(50))
                }
            }
            server.onConnectionError = { _ in }
            let flood = Flood(flooders, to: server.localAddress.port, Self.line)
            try loop.runUntil { counts.messages > 100 }
            counts.watchRounds(of: loop)
            try loop.runUntil { counts.messages > 3000 }
            counts.stop()
            flood.stop()
            #expect(counts.most < flooders * 100, "\(counts.most) messages in a round")
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    /// What brings many messages, and is no socket.
    enum Source: CaseIterable {
        case followedFile, file, childOutput, terminal
    }

    @Test(
        "what a file or a child brings has its share of each round, and not more", arguments: Source.allCases)
    func sources(source: Source) throws {
        try withLoop { loop throws in
            let (count, counts, directory) = (5000, Counts(), TemporaryDirectory())
            directory.write("log", String(repeating: Self.line, count: count))
            // It ends when it is told to: what a terminal has is thrown away with it.
            var configuration = shell("cat '\(directory.url("log"))'; read end")
            configuration.standardInput = .stream
            var child: ChildProcess?
            let stream: ByteStream
            switch source {
            case .followedFile:
                let follow = File.follow(directory.url("log"), from: .beginning, on: loop)
                stream = try loop.run(until: follow)
            case .file:
                let file = unsafe open(directory.url("log"), O_RDONLY)
                stream = try DescriptorStream(adopting: file, on: loop)
            case .childOutput:
                configuration.standardOutput = .stream
                child = try ChildProcess.start(configuration, on: loop)
                stream = child!.standardOutput!
            case .terminal:
                configuration = shell("cat '\(directory.url("log"))'; read end")
                configuration.terminal = .init(columns: 80, rows: 25)
                child = try ChildProcess.start(configuration, on: loop)
                stream = child!.terminal!
            }
            counts.watchRounds(of: loop)
            let read = stream.forEachMessage(decodedBy: Ping()) { _, _ in
                counts.messages += 1
                spin(for: .microseconds(50))
            }
            read.ignoreFailure()
            try loop.runUntil { counts.messages >= count }
            counts.stop()
            #expect(counts.most < 100, "\(counts.most) messages in a round")
            read.cancel()
            let input: ByteStream? = child?.standardInput
            (source == .terminal ? stream : input)?.write("\n")
            if let child { #expect(try loop.run(until: child.exit).isSuccess) }
            loop.closeAll([stream, input].compactMap(\.self))
        }
    }

    @Test("a quiet peer is answered beside peers that flood", arguments: Message.allCases)
    func quiet(message: Message) throws {
        try withLoop { loop in
            let flooders = isSoaking ? 1000 : message == .cheap ? 4 : 2
            var flooded = 0
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachMessage(decodedBy: Ping()) { _, _ in
                    flooded += 1
                    if message == .dear { spin(for: .microseconds(10)) }
                }
            }
            server.onConnectionError = { _ in }
            let quiet = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            let client = try loop.connect(to: quiet.localAddress)
            let flood = Flood(flooders, to: server.localAddress.port, Self.line)
            try loop.runUntil { flooded > 10_000 }
            var (messages, times): ([Int], [Duration]) = ([], [])
            for _ in 0..<(isSoaking ? 30 : 200) {
                let (before, start) = (flooded, cpuTime())
                client.write("x")
                _ = try loop.run(until: client.read(exactly: 1))
                messages.append(flooded - before)
                times.append(cpuTime() - start)
            }
            flood.stop()
            messages.sort()
            times.sort()
            let (middle, late) = (times.count / 2, times.count * 99 / 100)
            let words =
                "median \(times[middle]), \(messages[middle]) messages; p99 \(times[late]), \(messages[late])"
            if isSoaking { print("beside \(flooders) flooders of \(message) messages: \(words)") }
            // A connection has 0.5 ms in a round, and an answer takes a few rounds. Without a share, it waits for seconds.
            #expect(times[late] < .milliseconds(20 + 5 * flooders), "\(words)")
            // A share has 50 of these at most, or a few more before the clock is read.
            if message == .dear { #expect(messages[late] < 1000 * flooders, "\(words)") }
            _ = try loop.run(until: server.shutdown(within: .zero))
            try loop.run(until: client.close().and(quiet.close()).asVoid())
        }
    }

    @Test("each of many messages is handled, in order, if a turn has no time", arguments: Serving.allCases)
    func all(serving: Serving) throws {
        try withLoop { loop in
            loop.core.setTurnShare(.zero, stride: 0)
            let count = isSoaking ? 1_000_000 : 20_000
            var handled = 0
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                serve(serving, connection) {
                    handled += 1
                    connection.write("PONG\n")
                }
            }
            let client = try loop.connect(to: server.localAddress)
            let answers = client.readToEnd(limit: .max)
            client.write(String(repeating: Self.line, count: count))
            client.shutdownWrite()
            let bytes = try loop.run(until: answers)
            #expect(bytes == Data(String(repeating: "PONG\n", count: count).utf8))
            #expect(handled == count)
            try loop.run(until: client.close().and(server.close()).asVoid())
        }
    }

    @Test("connections that come together leave others their turn, if their handlers are dear")
    func accepts() throws {
        try withLoop { loop in
            loop.core.setTurnShare(.zero, stride: 0)
            let counts = Counts()
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { _ in
                counts.messages += 1
                return loop.succeeded()
            }
            server.onConnectionError = { _ in }
            let clients = (0..<40).map { _ in Peer(.system, port: server.localAddress.port, on: loop) }
            counts.watchRounds(of: loop)
            try loop.runUntil { counts.messages == 40 }
            counts.stop()
            // Beside one that came meanwhile.
            #expect(counts.most <= 2, "\(counts.most) connections in a round")
            withExtendedLifetime(clients) {}
            try loop.run(until: server.close())
        }
    }
}

/// Connections on which threads send without end and read nothing.
private final class Flood {
    private let isOver = Counter()
    private let ended = DispatchGroup()

    init(_ count: Int, to port: Int, _ line: String) {
        let block = Array(String(repeating: line, count: 20_000).utf8)
        // A thread for each would be too many: a few that send what fits.
        let sockets = (0..<count).map { _ in PlainSocket.unconnected() }
        let (isOver, descriptors) = (isOver, sockets.map(\.descriptor))
        for socket in sockets { socket.connect(to: port) }
        startThread(of: ended) {
            var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
            while isOver.value == 0 {
                guard unsafe poll(&polls, nfds_t(polls.count), 100) > 0 else { continue }
                for poll in polls where poll.revents != 0 {
                    _ = unsafe send(poll.fd, block, block.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
            }
        }
        self.sockets = sockets
    }

    private let sockets: [PlainSocket]

    func stop() {
        isOver.value = 1
        ended.wait()
    }
}

private func spin(for time: Duration) {
    let end = ContinuousClock.now + time
    while .now < end {}
}

/// Messages of five bytes.
private struct Ping: StreamDecoder {
    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Void>? {
        bytes.byteCount < 5 ? nil : DecodedFrame((), byteCount: 5)
    }
}
