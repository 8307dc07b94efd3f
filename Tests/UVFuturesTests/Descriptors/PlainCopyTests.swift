import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// What a plain copy of a descriptor gives a blocking program, a stream over that descriptor gives, too.
struct PlainCopyTests {
    enum Input: String, CaseIterable, Codable, CustomTestStringConvertible {
        case pipe, pipeWithWriter, packets, fifo, emptyFifo, fifoWithWriter, socket, socketWithWriter,
            terminal
        case file, endOfFile, appending, writeOnly, pathOnly, nothing

        var testDescription: String { rawValue }

        /// The descriptor, and what is still to come from its other end.
        func open() throws -> (descriptor: CInt, rest: () -> Void) {
            switch self {
            case .pipe, .pipeWithWriter, .packets, .fifo, .emptyFifo, .fifoWithWriter, .socket,
                .socketWithWriter:
                let (here, there) = try ends()
                if self != .emptyFifo { put("some", there) }
                let isLater = [.pipeWithWriter, .fifoWithWriter, .socketWithWriter].contains(self)
                let rest = {
                    if self != .emptyFifo { put(" more", there) }
                    close(there)
                }
                if !isLater { rest() }
                return (here, isLater ? rest : {})
            case .terminal:
                var ends: [CInt] = []
                try withTerminal { person, program in ends = [dup(person), program] }
                put("some\n\u{4}", ends[0])
                return (ends[1], {})
            case .nothing: return (unsafe Glibc.open("/dev/null", O_RDWR), {})
            case .pathOnly:
                let ends = try UVFuturesTests.fifo()
                put("some", ends[1])
                close(ends[1])
                return (unsafe Glibc.open("/proc/self/fd/\(ends[0])", open_for_path_only), {})
            case .file, .endOfFile, .appending, .writeOnly:
                let file = try UVFuturesTests.file(Array("0123456789".utf8))
                let flags = self == .writeOnly ? O_WRONLY : self == .appending ? O_RDWR | O_APPEND : O_RDONLY
                let descriptor = unsafe Glibc.open("/proc/self/fd/\(file)", flags)
                lseek(descriptor, self == .endOfFile ? 10 : 4, SEEK_SET)
                return (descriptor, {})
            }
        }

        private func ends() throws -> (CInt, CInt) {
            var ends: [CInt] = [-1, -1]
            switch self {
            case .pipe, .pipeWithWriter: try #require(unsafe open_pipe(&ends, 0) == 0)
            case .packets: try #require(unsafe open_pipe(&ends, open_for_packets) == 0)
            case .fifo, .emptyFifo, .fifoWithWriter: ends = try UVFuturesTests.fifo()
            default: try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            }
            return (ends[0], ends[1])
        }
    }

    enum Output: String, CaseIterable, Codable, CustomTestStringConvertible {
        case pipe, packets, fifo, fifoWithoutReader, socket, terminal, file, appending, readOnly, nothing,
            full

        var testDescription: String { rawValue }

        /// The descriptor, and one from which to read what was written, or -1.
        func open() throws -> (descriptor: CInt, reader: CInt) {
            var ends: [CInt] = [-1, -1]
            switch self {
            case .pipe: try #require(unsafe open_pipe(&ends, 0) == 0)
            case .packets: try #require(unsafe open_pipe(&ends, open_for_packets) == 0)
            case .fifo, .fifoWithoutReader: ends = try UVFuturesTests.fifo()
            case .socket: try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            case .terminal: try withTerminal { person, program in ends = [dup(person), program] }
            case .nothing: ends[1] = unsafe Glibc.open("/dev/null", O_RDWR)
            case .full: ends[1] = unsafe Glibc.open("/dev/full", O_RDWR)
            case .file, .appending, .readOnly:
                let file = try UVFuturesTests.file(Array("0123456789".utf8))
                let flags = self == .readOnly ? O_RDONLY : self == .appending ? O_WRONLY | O_APPEND : O_WRONLY
                ends = [file, unsafe Glibc.open("/proc/self/fd/\(file)", flags)]
                lseek(ends[1], 4, SEEK_SET)
            }
            if self == .fifoWithoutReader {
                close(ends[0])
                ends[0] = -1
            }
            return (ends[1], ends[0])
        }
    }

    /// What came of it: what each read found, or that something failed, and what others find at the descriptor then.
    private struct Outcome: Equatable {
        var reads: [String] = []
        var hasFailed = false
        var position: off_t = -2
        var flags: CInt = -2

        mutating func look(at descriptor: CInt) {
            position = lseek(descriptor, 0, SEEK_CUR)
            flags = fcntl(descriptor, F_GETFL)
        }
    }

    @Test(
        "what is read is what a blocking program reads, with its end and its position",
        arguments: Input.allCases)
    func reading(input: Input) async {
        await #expect(processExitsWith: .success) { [input] in
            var plain = Outcome()
            let (descriptor, rest) = try input.open()
            rest()
            (plain.reads, plain.hasFailed) = reads(descriptor)
            plain.look(at: descriptor)
            plain.reads = [plain.reads.joined()]
            for isStandard in [true, false] {
                try withLoop { loop in
                    var ours = Outcome()
                    let (descriptor, rest) = try input.open()
                    dup2(descriptor, 0)
                    do {
                        let stream =
                            isStandard
                            ? try loop.standardInput() : try DescriptorStream(adopting: dup(0), on: loop)
                        defer { stream.abort() }
                        let text = stream.readToEnd()
                        rest()
                        // It is a hang that is looked for.
                        ours.reads = try [string(loop.run(until: text.timeout(after: .seconds(20))))]
                        try loop.run(until: stream.close())
                        try loop.run(until: loop.submit {})
                    } catch {
                        (ours.reads, ours.hasFailed) = ([""], true)
                        #expect(error as? FutureError != .timedOut(after: .seconds(20)), "\(input)")
                    }
                    ours.look(at: 0)
                    // A socket that is adopted has one mode for all.
                    if !isStandard { ours.flags = plain.flags }
                    #expect(ours == plain, "\(input), standard \(isStandard)")
                }
            }
        }
    }

    @Test("what is written is what a blocking program writes, and where", arguments: Output.allCases)
    func writing(output: Output) async {
        await #expect(processExitsWith: .success) { [output] in
            signal(SIGPIPE, SIG_IGN)
            let printed = dup(1)
            func outcome(_ body: () throws -> Bool) throws -> Outcome {
                let (descriptor, reader) = try output.open()
                dup2(descriptor, 1)
                close(descriptor)
                var outcome = Outcome()
                outcome.hasFailed = try !body()
                outcome.look(at: 1)
                dup2(printed, 1)
                guard reader >= 0 else { return outcome }
                if outcome.position >= 0 { lseek(reader, 0, SEEK_SET) }
                let texts = reads(reader).texts
                outcome.reads = output == .packets ? texts : [texts.joined()]
                return outcome
            }
            let plain = try outcome { unsafe write(1, "one", 3) == 3 && write(1, "two", 3) == 3 }
            for isStandard in [true, false] {
                try withLoop { loop in
                    var ours = try outcome {
                        let stream =
                            isStandard
                            ? try loop.standardOutput() : try DescriptorStream(adopting: dup(1), on: loop)
                        let writes = ["one", "two"].map { loop.failure(of: stream.write($0)) }
                        _ = loop.outcome(of: stream.close())
                        try loop.run(until: loop.submit {})
                        return writes.allSatisfy { $0 == nil }
                    }
                    if !isStandard { ours.flags = plain.flags }
                    #expect(ours == plain, "\(output), standard \(isStandard)")
                }
            }
        }
    }
}

private func put(_ text: String, _ descriptor: CInt) {
    precondition(unsafe write(descriptor, text, text.utf8.count) == text.utf8.count)
}

private func string(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }

/// What each read of a blocking program finds, up to the end, and whether it fails in the end.
private func reads(_ descriptor: CInt) -> (texts: [String], hasFailed: Bool) {
    var (texts, block) = ([String](), [UInt8](repeating: 0, count: 100))
    while true {
        let count = unsafe read(descriptor, &block, block.count)
        // A terminal fails once its program has gone.
        guard count > 0 else { return (texts, count < 0 && errno != EIO) }
        texts.append(String(decoding: block.prefix(count), as: UTF8.self))
    }
}
