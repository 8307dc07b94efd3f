import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct DescriptorStreamTests {
    private func isNonBlocking(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0 }

    /// A new file with `bytes` in it, open for reading and writing, and without a name.
    private func file(_ bytes: [UInt8] = []) throws -> CInt {
        var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        try #require(descriptor >= 0)
        unsafe unlink(template)
        #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    @Test("what is written to a pipe is read from it, and its end when the write side is shut down")
    func pipes() throws {
        try withLoop { loop in
            let (reading, writing) = try loop.makePipe()
            #expect(reading.kind == .pipe && writing.kind == .pipe)
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
            writing.write(bytes)
            let end = writing.shutdownWrite()
            #expect(try loop.run(until: reading.readToEnd()) == bytes)
            try loop.run(until: end)
            try loop.run(until: reading.close().and(writing.close()).map { _ in })
        }
    }

    @Test("the wrong end of a pipe refuses, and stays usable")
    func wrongEnd() throws {
        try withLoop { loop in
            let (reading, writing) = try loop.makePipe()
            for failure in [
                loop.failure(of: writing.read()), loop.failure(of: writing.forEachChunk { _ in }),
                loop.failure(of: writing.readLine()), loop.failure(of: writing.pipe(to: writing)),
            ] {
                #expect(failure as? StreamError == .notReadable)
            }
            for failure in [
                loop.failure(of: reading.write("x")), loop.failure(of: reading.write([Data("x".utf8)])),
                loop.failure(of: reading.pipe(to: reading)),
            ] {
                #expect(failure as? StreamError == .notWritable)
            }
            try loop.run(until: reading.shutdownWrite())
            writing.write("still")
            #expect(try loop.run(until: reading.read()) == Data("still".utf8))
            try loop.run(until: reading.close().and(writing.close()).map { _ in })
        }
    }

    @Test("a close sends what is queued to what can only be written, too", arguments: [true, false])
    func closeFlushes(isFile: Bool) throws {
        try withLoop { loop in
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
            let output = try file()
            let copy = unsafe open("/proc/self/fd/\(output)", O_WRONLY)
            let pipe = try loop.makePipe()
            let writing = isFile ? try DescriptorStream(adopting: copy, on: loop) : pipe.writing
            let reading = isFile ? try DescriptorStream(adopting: output, on: loop) : pipe.reading
            let write = writing.write(bytes)
            #expect(!write.isCompleted)
            let close = writing.close()
            if isFile { try loop.run(until: close) }
            #expect(try loop.run(until: reading.readToEnd()) == bytes)
            try loop.run(until: write.and(close).map { _ in })
            try loop.run(until: reading.close())
            if isFile {
                for end in [pipe.reading, pipe.writing] { try loop.run(until: end.close()) }
            } else {
                for descriptor in [output, copy] { Glibc.close(descriptor) }
            }
        }
    }

    @Test("whoever shares a pipe finds it in the mode in which it was")
    func sharedMode() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            let shared = ends.map { dup($0) }
            let streams = try ends.map { try DescriptorStream(adopting: $0, on: loop) }
            streams[1].write("x")
            _ = try loop.run(until: streams[0].read())
            #expect(!isNonBlocking(shared[0]) && !isNonBlocking(shared[1]))
            for stream in streams { try loop.run(until: stream.close()) }
            #expect(!isNonBlocking(shared[0]) && !isNonBlocking(shared[1]))
            for descriptor in shared { close(descriptor) }
        }
    }

    @Test("a pipe whose reader is gone fails the write, by name")
    func brokenPipe() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            close(ends[0])
            let writing = try DescriptorStream(adopting: ends[1], on: loop)
            #expect((loop.failure(of: writing.write("x")) as? UVError)?.code == .brokenPipe)
            #expect((loop.failure(ofEnd: writing) as? UVError)?.code == .brokenPipe)
        }
    }

    @Test("a connected socket is a stream, and its half close ends the other side")
    func sockets() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(
                unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            let streams = try ends.map { try DescriptorStream(adopting: $0, on: loop) }
            #expect(streams.allSatisfy { $0.kind == .socket })
            streams[0].write("there")
            streams[0].shutdownWrite()
            #expect(try loop.run(until: streams[1].readToEnd()) == Data("there".utf8))
            streams[1].write("and back")
            try loop.run(until: streams[1].close())
            #expect(try loop.run(until: streams[0].readToEnd()) == Data("and back".utf8))
            try loop.run(until: streams[0].close())
        }
    }

    @Test("a file is read from where it is to its end, and written in order")
    func files() throws {
        try withLoop { loop in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 >> 5) }
            let input = try file(bytes)
            lseek(input, 1000, SEEK_SET)
            let reading = try DescriptorStream(adopting: input, on: loop)
            #expect(reading.kind == .file)
            let output = try file()
            let copy = dup(output)
            defer { close(copy) }
            let writing = try DescriptorStream(adopting: output, on: loop)
            #expect(try loop.run(until: reading.pipe(to: writing)) == 299_000)
            try loop.run(until: reading.close().and(writing.close()).map { _ in })
            var written = [UInt8](repeating: 0, count: 400_000)
            lseek(copy, 0, SEEK_SET)
            #expect(unsafe read(copy, &written, written.count) == 299_000)
            #expect(written.prefix(299_000) == bytes.dropFirst(1000))
        }
    }

    @Test("a reader of a file that stops is not read ahead of, and what it left is there")
    func fileBackPressure() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            limits.readHighWaterMark = 1
            limits.readLowWaterMark = 0
            let descriptor = try file([UInt8](repeating: 7, count: 10_000_000))
            let position = dup(descriptor)
            defer { close(position) }
            let reading = try DescriptorStream(adopting: descriptor, limits: limits, on: loop)
            _ = try loop.run(until: reading.read())
            try loop.run()
            #expect(lseek(position, 0, SEEK_CUR) <= 1_000_000)
            #expect(try loop.run(until: reading.read(exactly: 9_000_000))?.count == 9_000_000)
            try loop.run(until: reading.close())
        }
    }

    @Test("what is no socket does not wait for the end of its peer when it is closed with bytes unread")
    func closesAtOnce() throws {
        try withTerminal { person, program in
            try withLoop { loop in
                let terminal = try DescriptorStream(adopting: program, on: loop)
                #expect(unsafe write(person, "ab\n", 3) == 3)
                let (reading, writing) = try loop.makePipe()
                writing.write("ab\n")
                for stream in [reading, terminal] {
                    #expect(try loop.run(until: stream.read(exactly: 1)) == Data("a".utf8))
                    let close = stream.close(within: .seconds(600))
                    try loop.runUntil { close.isCompleted }
                }
                try loop.run(until: writing.close())
            }
        }
    }

    @Test("a file that is closed with bytes unread or unsent is read no further")
    func fileCloses() throws {
        try withLoop { loop in
            let descriptor = try file([UInt8](repeating: 7, count: 10_000_000))
            let position = dup(descriptor)
            defer { close(position) }
            var limits = StreamLimits()
            limits.readHighWaterMark = 1
            limits.readLowWaterMark = 0
            let stream = try DescriptorStream(adopting: descriptor, limits: limits, on: loop)
            #expect(try loop.run(until: stream.read(exactly: 1)) == Data([7]))
            stream.write("x")
            try loop.run(until: stream.close())
            #expect(lseek(position, 0, SEEK_CUR) <= 1_000_000)
        }
    }

    @Test(
        "files closed in the middle of an operation, dropped or left to a shutdown leave nothing behind",
        arguments: 0..<4)
    func fileLifetime(way: Int) throws {
        try withLoop(ignoringUnhandled: way == 2) { loop in
            let descriptor = try file([UInt8](repeating: 7, count: 10_000_000))
            let stream = try DescriptorStream(adopting: descriptor, on: loop)
            if way == 2 { return }
            let (read, write) = (stream.read(exactly: 9_000_000), stream.write(Data(count: 1_000_000)))
            for future in [read.map { _ in }, write] { future.ignoreFailure() }
            switch way {
            case 0:
                #expect(
                    loop.failure(of: stream.abort().flatMap { read }) as? StreamError == .connectionClosed)
            case 1:
                try loop.run(until: stream.close())
                try loop.run(until: write)
            default: break
            }
        }
    }

    @Test("/dev/null is empty and takes everything")
    func nothing() throws {
        try withLoop { loop in
            let stream = try DescriptorStream(adopting: unsafe open("/dev/null", O_RDWR), on: loop)
            #expect(stream.kind == .file)
            try loop.run(until: stream.write("whatever"))
            #expect(try loop.run(until: stream.read()).isEmpty)
            try loop.run(until: stream.close())
        }
    }

    @Test("what is no stream of bytes is refused by name, and stays open")
    func refusals() throws {
        try withLoop { loop in
            func refusal(_ descriptor: CInt) -> String? {
                defer { #expect(descriptor < 0 || close(descriptor) == 0) }
                let text = complaint { _ = try DescriptorStream(adopting: descriptor, on: loop) }
                return text?.replacing("descriptor \(descriptor)", with: "D")
            }
            #expect(refusal(-1) == "D is not open; give one that is")
            #expect(
                refusal(unsafe open("/", O_RDONLY))
                    == "D is a directory, which has no bytes to read or write; give a file in it")
            #expect(
                refusal(socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0))
                    == "D is a socket of messages, which have no order and no end; give a stream socket")
            let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            listen(listening, 1)
            #expect(
                refusal(listening)
                    == "D is a socket that listens, and carries no bytes; accept connections from it")
            #expect(
                refusal(dup(loop.pollDescriptor))
                    == "D is no stream of bytes; wait for it with watch(descriptor:)")
            var limits = StreamLimits()
            limits.writeCap = -1
            #expect(throws: FutureError.self) { try loop.makePipe(limits: limits) }
        }
    }

    // MARK: Terminals

    /// Both ends of a new terminal: the one that a person has, and the one that programs have.
    func withTerminal(_ body: (CInt, CInt) throws -> Void) throws {
        let person = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(person >= 0)
        defer { close(person) }
        var (lock, number): (CInt, CInt) = (0, 0)
        // TIOCSPTLCK, TIOCGPTN
        let isUnlocked = unsafe ioctl(person, 0x4004_5431, &lock) == 0
        try #require(unsafe isUnlocked && ioctl(person, 0x8004_5430, &number) == 0)
        let program = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(program >= 0)
        try body(person, program)
    }

    private func mode(_ descriptor: CInt) -> termios {
        var mode = termios()
        unsafe tcgetattr(descriptor, &mode)
        return mode
    }

    @Test("a terminal comes line by line, in raw mode key by key, and has its mode back in the end")
    func terminal() throws {
        try withTerminal { person, program in
            let shared = dup(program)
            defer { close(shared) }
            let before = mode(shared)
            try withLoop { loop in
                let stream = try DescriptorStream(adopting: program, on: loop)
                #expect(stream.kind == .terminal)
                let line = stream.readLine()
                #expect(unsafe write(person, "a line\n", 7) == 7)
                #expect(try loop.run(until: line) == Data("a line".utf8))
                try stream.setRawMode(true)
                try stream.setRawMode(true)
                #expect(mode(shared).c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
                let key = stream.read()
                #expect(unsafe write(person, "k", 1) == 1)
                #expect(try loop.run(until: key) == Data("k".utf8))
                try stream.setRawMode(false)
                #expect(mode(shared).c_lflag == before.c_lflag)
                try stream.setRawMode(true)
                #expect(!isNonBlocking(shared))
                try loop.run(until: stream.shutdownWrite())
                try loop.run(until: stream.close())
                #expect(throws: StreamError.connectionClosed) { try stream.setRawMode(true) }
            }
            #expect(mode(shared).c_lflag == before.c_lflag && mode(shared).c_iflag == before.c_iflag)
        }
    }

    @Test("a terminal in raw mode has its mode back when the process ends without a close")
    func rawAtExit() async {
        await #expect(processExitsWith: .success) {
            try DescriptorStreamTests().withTerminal { _, program in
                dup2(program, 100)
                // What is registered first is called last.
                atexit { if DescriptorStreamTests().mode(100).c_lflag & tcflag_t(ICANON) == 0 { _exit(3) } }
                let loop = try EventLoop()
                let stream = try DescriptorStream(adopting: program, on: loop)
                try stream.setRawMode(true)
                #expect(DescriptorStreamTests().mode(100).c_lflag & tcflag_t(ICANON) == 0)
                withExtendedLifetime(stream) { exit(0) }
            }
        }
    }

    @Test("a terminal says its size; what is none refuses to")
    func windowSize() throws {
        try withTerminal { person, program in
            var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
            #expect(unsafe ioctl(person, UInt(TIOCSWINSZ), &size) == 0)
            try withLoop { loop in
                let stream = try DescriptorStream(adopting: program, on: loop)
                #expect(try stream.windowSize == DescriptorStream.WindowSize(columns: 100, rows: 30))
                try loop.run(until: stream.close())
                let (reading, writing) = try loop.makePipe()
                #expect(
                    complaint { _ = try reading.windowSize }
                        == "windowSize was asked of a pipe, which is no terminal")
                #expect(
                    complaint { try writing.setRawMode(true) }
                        == "setRawMode(_:) was asked of a pipe, which is no terminal")
                reading.abort()
                try loop.run(until: writing.abort())
            }
        }
    }
}
