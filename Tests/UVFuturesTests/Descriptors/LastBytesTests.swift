import CFuturesSystem
import CLibUV
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// The other end writes and goes, and whoever reads gets all that a blocking reader gets.
struct LastBytesTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case terminal, pipe, packets, fifo, unix, unixWithDescriptors, tcp, tcpWithUrgentByte

        var testDescription: String { rawValue }

        /// The end to read and the end to write.
        func ends() throws -> (reader: CInt, writer: CInt) {
            var ends: [CInt] = [-1, -1]
            switch self {
            case .terminal:
                try withTerminal { person, program in
                    var raw = mode(program)
                    unsafe cfmakeraw(&raw)
                    unsafe tcsetattr(program, TCSANOW, &raw)
                    ends = [dup(person), program]
                }
            case .pipe, .packets:
                try #require(unsafe open_pipe(&ends, self == .packets ? open_for_packets : 0) == 0)
                // F_SETPIPE_SZ
                _ = fcntl(ends[1], 1031, 1 << 20)
            case .fifo: ends = try UVFuturesTests.fifo()
            case .unix, .unixWithDescriptors:
                try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            case .tcp, .tcpWithUrgentByte:
                let listener = PlainSocket.bound(backlog: 1)
                let client = PlainSocket.connected(to: listener.port)
                ends[1] = withExtendedLifetime(client) { dup(client.descriptor) }
                ends[0] = accept(listener.descriptor, nil, nil)
                // So that the end of the peer is a hang-up.
                shutdown(ends[0], CInt(SHUT_WR))
            }
            return (ends[0], ends[1])
        }

        /// Writes `bytes` in pieces, with something special in the midst of the last `tail` of them, and goes.
        func write(_ bytes: Data, inPieces size: Int, tail: Int, to descriptor: CInt) {
            block_broken_pipes()
            var written = 0
            while written < bytes.count {
                var count = min(size, bytes.count - written)
                if self == .tcpWithUrgentByte {
                    let middle = bytes.count - tail / 2
                    if written == middle {
                        precondition(unsafe send(descriptor, "!", 1, CInt(MSG_OOB)) == 1)
                    }
                    if written < middle { count = min(count, middle - written) }
                }
                let piece = Array(bytes[written..<written + count])
                let result =
                    unsafe self == .unixWithDescriptors
                    ? sendWithDescriptor(piece, to: descriptor) : Glibc.write(descriptor, piece, count)
                // The reader has gone.
                if result < 0 { break }
                written += result
            }
            close(descriptor)
        }
    }

    enum Reading: CaseIterable {
        case toEnd, inChunks, withPauses
    }

    static let bytes = (0..<131_072).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }

    @Test(
        "what was written before the other end went is read to the last byte",
        arguments: Kind.allCases, [100, 1, 4_096, 65_536].sampled)
    func everything(kind: Kind, size: Int) throws {
        // It fits into the buffers of each kind.
        let tail = min(16_384, 200 * size)
        func ends() throws -> (reader: CInt, hasWritten: Counter) {
            let ((reader, writer), hasWritten) = (try kind.ends(), Counter())
            startThread(of: DispatchGroup()) {
                kind.write(Data(Self.bytes), inPieces: size, tail: tail, to: writer)
                hasWritten.add(1)
            }
            return (reader, hasWritten)
        }
        let plain = try ends().reader
        let expected = UVFuturesTests.everything(in: plain)
        close(plain)
        #expect(expected == Data(Self.bytes))
        for reading in Reading.allCases {
            try withLoop { loop in
                let (reader, hasWritten) = try ends()
                let stream = try DescriptorStream(adopting: reader, on: loop)
                defer { if stream.isOpen { stream.abort() } }
                var got = try loop.run(until: stream.read(exactly: Self.bytes.count - tail)) ?? Data()
                try loop.runUntil { hasWritten.value == 1 }
                try loop.run(until: rest(of: stream, reading) { got += $0 })
                #expect(got.count == expected.count && got == expected, "\(reading)")
                try loop.run(until: stream.close())
            }
        }
    }

    private func rest(
        of stream: ByteStream, _ reading: Reading, _ body: @escaping (Data) -> Void
    ) -> Future<Void> {
        let loop = stream.loop
        switch reading {
        case .toEnd: return stream.readToEnd().map(body)
        case .inChunks: return stream.forEachChunk(body)
        case .withPauses:
            return stream.forEachChunk { chunk in
                body(chunk)
                return loop.sleep(for: .milliseconds(1))
            }
        }
    }

    @Test("what a program has shown in its terminal is read to the last byte")
    func terminalOfChild() throws {
        try withLoop { loop in
            for _ in 0..<20 {
                var configuration = shell("seq 1 20000; printf END")
                configuration.terminal = .init(columns: 80, rows: 24)
                let child = try ChildProcess.start(configuration, on: loop)
                let terminal = try #require(child.terminal)
                let shown = try loop.run(until: terminal.readToEnd())
                #expect(shown.count == 128_897 && shown.suffix(3) == Data("END".utf8))
                try loop.run(until: terminal.close())
                _ = try loop.run(until: child.exit)
            }
        }
    }
}

/// What a blocking reader gets, up to the end or to an error, as at the end of a terminal.
private func everything(in descriptor: CInt) -> Data {
    var (all, block) = (Data(), [UInt8](repeating: 0, count: 65_536))
    while case let count = unsafe read(descriptor, &block, block.count), count > 0 {
        all += block.prefix(count)
    }
    return all
}

/// Sends the bytes together with a descriptor, where a read stops.
private func sendWithDescriptor(_ bytes: [UInt8], to socket: CInt) -> Int {
    var descriptor = socket
    var control = [UInt64](repeating: 0, count: 8)
    return unsafe bytes.withUnsafeBytes { bytes in
        unsafe control.withUnsafeMutableBytes { control in
            var vector = unsafe iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                var header = unsafe msghdr()
                unsafe header.msg_iov = vector
                unsafe header.msg_iovlen = 1
                unsafe header.msg_control = control.baseAddress
                unsafe add_control(&header, SOL_SOCKET, CInt(SCM_RIGHTS), &descriptor, 4)
                return unsafe sendmsg(socket, &header, 0)
            }
        }
    }
}
