import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct UVFileTests {
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

    @Test("a file counts as a connection, holds one byte as well as more, and is closed with its stream")
    func single() throws {
        try withLoop { loop in
            let descriptor = try file([7])
            // Another description of the same file, which has the lock as soon as nobody has the first one open.
            let other = unsafe open("/proc/self/fd/\(descriptor)", O_RDWR | O_CLOEXEC)
            defer { close(other) }
            #expect(flock(descriptor, LOCK_EX) == 0)
            let stream = try DescriptorStream(adopting: descriptor, on: loop)
            #expect(loop.statistics.connections == 1)
            #expect(try loop.run(until: stream.read()) == Data([7]))
            let written = stream.write(Data([8]))
            #expect(stream.bufferedBytes == 1)
            try loop.run(until: written)
            #expect(stream.bufferedBytes == 0)
            #expect(try loop.run(until: stream.readToEnd()).isEmpty)
            var bytes: [UInt8] = [0, 0, 0]
            #expect(unsafe pread(other, &bytes, 3, 0) == 2 && bytes == [7, 8, 0])
            #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
            try loop.run(until: stream.close())
            #expect(loop.statistics.connections == 0)
            #expect(eventually { flock(other, LOCK_EX | LOCK_NB) == 0 })
        }
    }

    @Test("a file that takes a part of the bytes is given the rest, and what it refuses is the error")
    func part() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            try withLoop { loop in
                let descriptor = try file()
                let copy = dup(descriptor)
                let stream = try DescriptorStream(adopting: descriptor, on: loop)
                var usual = rlimit()
                unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual)
                var limit = rlimit(rlim_cur: 10_000, rlim_max: usual.rlim_max)
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                let failure = loop.failure(of: stream.write(Data(count: 20_000)))
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual)
                #expect(failure as? SystemError == SystemError(.init(rawValue: -EFBIG), "write"))
                #expect(lseek(copy, 0, SEEK_END) == 10_000)
                _ = loop.outcome(of: stream.closed)
                close(copy)
            }
        }
    }

    @Test("a file that cannot be read fails by name, and is not asked again")
    func unreadable() throws {
        try withLoop { loop in
            // Its first page is no memory of this process.
            let descriptor = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
            let stream = try DescriptorStream(adopting: descriptor, on: loop)
            #expect(loop.failure(of: stream.read()) as? SystemError == SystemError(.inputOutput, "read"))
            _ = loop.outcome(of: stream.closed)
        }
    }
}
