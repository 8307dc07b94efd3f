import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// A stream that fills its block with one read after the other leaves others their turn.
struct UVReadShareTests {
    enum Kind: CaseIterable {
        case tcp, unix, pipe
    }

    /// What has been read, and how much of it in one round of the loop.
    private final class Reads {
        private(set) var bytes = Data()
        /// The most reads in a round of the loop that brought 32 KiB or more.
        private(set) var most = 0
        private var inThisRound = 0
        private var isOver = false

        func add(_ bytes: RawSpan) {
            self.bytes += Data(copying: bytes)
            inThisRound += bytes.byteCount >= 32_768 ? 1 : 0
            most = max(most, inThisRound)
        }

        func watchRounds(of loop: EventLoop) {
            inThisRound = 0
            if !isOver { loop.later(on: .nextTurn) { self.watchRounds(of: loop) } }
        }

        func stop() { isOver = true }
    }

    /// The end that the loop reads, and the descriptor to write to.
    private func connect(_ kind: Kind, _ loop: EventLoop) throws -> (ByteStream, CInt) {
        var ends: [CInt] = [-1, -1]
        switch kind {
        case .tcp:
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepted = listener.accept()
            let socket = PlainSocket.connected(to: listener.localAddress.port)
            let stream = try loop.run(until: accepted)
            try loop.run(until: listener.close())
            return (stream, dup(socket.descriptor))
        case .unix:
            try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        case .pipe:
            try #require(unsafe pipe(&ends) == 0)
            // F_SETPIPE_SZ
            _ = fcntl(ends[1], 1031, 1 << 20)
        }
        return (try DescriptorStream(adopting: ends[0], on: loop), ends[1])
    }

    // 6 MB, or ten times as many: a thread writes as fast as it can, so the reads fill the block.
    @Test(
        "streams that are flooded are read once in a round, if a round has no time, and all bytes come",
        arguments: Kind.allCases, [true, false])
    func flooded(kind: Kind, hasNoTime: Bool) throws {
        try withLoop { loop in
            if hasNoTime { loop.core.setTurnShare(.zero, stride: 0) }
            let sent = pattern(isSoaking ? 60_000_000 : 6_000_000)
            let (stream, descriptor) = try connect(kind, loop)
            startThread {
                setBlocking(descriptor)
                writeAll(sent, to: descriptor)
                close(descriptor)
            } ended: { _ in
            }
            let reads = Reads()
            reads.watchRounds(of: loop)
            try loop.run(until: stream.forEachSpan { reads.add($0) }.always(reads.stop))
            #expect(reads.bytes == sent)
            // Half of a round may belong to the round before.
            if hasNoTime { #expect(reads.most <= 2, "\(reads.most) reads in a round") }
            _ = loop.outcome(of: stream.close())
        }
    }

    /// How the peer goes while its last bytes are unread.
    enum Going: CaseIterable {
        case closes, resets
    }

    @Test(
        "an end behind bytes that were left unread comes when they have been read",
        arguments: Kind.allCases, Going.allCases)
    func hangUp(kind: Kind, going: Going) throws {
        if kind != .tcp, going == .resets { return }
        try withLoop { loop in
            loop.core.setTurnShare(.zero, stride: 0)
            let (stream, descriptor) = try connect(kind, loop)
            var sent = Data()
            setNonBlocking(descriptor)
            while sent.count < 1 << 20 {
                let part = pattern(65_536, from: sent.count)
                let count = unsafe part.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                sent += part.prefix(count)
            }
            // A user with many pipes has small ones.
            #expect(sent.count > (kind == .pipe ? 4_095 : 100_000))
            if going == .resets {
                var option = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(
                    descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
            let reads = Reads()
            var ended: Result<Void, any Error>?
            stream.forEachSpan { reads.add($0) }.whenComplete { ended = $0 }
            close(descriptor)
            try loop.runUntil { ended != nil }
            switch going {
            case .closes:
                #expect(reads.bytes == sent)
                #expect(throws: Never.self) { try ended!.get() }
            case .resets: #expect(throws: SystemError.self) { try ended!.get() }
            }
            _ = loop.outcome(of: stream.close())
        }
    }

    @Test(
        "the output of a child and its terminal come whole, if a round has no time", arguments: [false, true])
    func children(onTerminal: Bool) throws {
        try withLoop { loop throws in
            loop.core.setTurnShare(.zero, stride: 0)
            // It ends when it is told to: what a terminal has is thrown away with it.
            var configuration = shell("seq 1 20000; read end")
            if onTerminal {
                configuration.terminal = .init(columns: 80, rows: 25)
            } else {
                (configuration.standardInput, configuration.standardOutput) = (.stream, .stream)
            }
            let child = try ChildProcess.start(configuration, on: loop)
            let output: ByteStream = onTerminal ? child.terminal! : child.standardOutput!
            var next = 1
            let read = output.forEachMessage(decodedBy: Lines()) { line, _ in
                // Behind the last line comes the echo of what is typed.
                if next <= 20_000 { #expect(line == "\(next)") }
                next += 1
            }
            .ignoreFailure()
            try loop.runUntil { next > 20_000 }
            (onTerminal ? child.terminal! : child.standardInput!).write("\n")
            #expect(try loop.run(until: child.exit).isSuccess)
            read.cancel()
            for stream in [child.terminal, child.standardInput, child.standardOutput].compactMap(\.self) {
                _ = loop.outcome(of: stream.close())
            }
        }
    }
}

/// Finds lines of text, whose carriage returns are taken off.
private struct Lines: StreamDecoder {
    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<String>? {
        for offset in 0..<bytes.byteCount
        where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: "\n") {
            let text = String(decoding: Data(copying: bytes.extracting(0..<offset)), as: UTF8.self)
            return DecodedFrame(text.replacing("\r", with: ""), byteCount: offset + 1)
        }
        return nil
    }
}

private func setBlocking(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
}

private func setNonBlocking(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

private func writeAll(_ bytes: Data, to descriptor: CInt) {
    var rest = bytes
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
