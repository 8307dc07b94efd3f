import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct DescriptorStreamTests {
    @Test("the wrong end of a pipe refuses, and stays usable")
    func wrongEnd() throws {
        try withLoop { loop in
            let (reading, writing) = try loop.makePipe()
            for failure in [
                loop.failure(of: writing.read()), loop.failure(of: writing.forEachChunk { _ in }),
                loop.failure(of: writing.readLine()), loop.failure(of: writing.pipe(to: writing)),
                loop.failure(of: writing.readMessage(decodedBy: LengthPrefixDecoder(.uint8))),
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

    @Test("the end of a stream changes nothing of others who have the number that it was adopted by")
    func otherOfTheNumber() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                var ends: [CInt] = [0, 0]
                try #require(unsafe pipe(&ends) == 0)
                let writing = try DescriptorStream(adopting: ends[1], on: loop)
                #expect(dup2(try file(), ends[1]) == ends[1])
                try loop.run(until: writing.shutdownWrite())
                try loop.run(until: writing.close())
                var status = stat()
                #expect(unsafe fstat(ends[1], &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
            }
        }
    }

    @Test("a pipe for which descriptors are missing throws, and leaves nothing behind")
    func scarceDescriptors() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                // What the first one leaves for all others stays.
                let first = try loop.makePipe()
                for stream in [first.reading, first.writing] { try loop.run(until: stream.close()) }
                let before = openDescriptors()
                var isMade = false
                for count in 0..<12 where !isMade {
                    try withFreeDescriptors(count) {
                        do {
                            let pipe = try loop.makePipe()
                            isMade = true
                            for stream in [pipe.reading, pipe.writing] { stream.close() }
                        } catch let error as SystemError {
                            #expect(error.code == .tooManyOpenFiles)
                        }
                    }
                    try loop.run()
                    #expect(loop.statistics.handles == 0, "\(count)")
                    // What this process was started with may have been open at first.
                    #expect(openDescriptors().isSubset(of: before), "\(count)")
                }
                #expect(isMade)
            }
        }
    }
}
