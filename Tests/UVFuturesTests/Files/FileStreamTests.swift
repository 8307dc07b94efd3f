import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FileStreamTests {
    @Test("a stream reads a file in order, from a position to its end")
    func reads() throws {
        try withFile { loop, file, path in
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            try bytes.write(to: URL(filePath: path))
            let stream = try file.stream(from: 10)
            #expect(try loop.run(until: stream.readToEnd()) == bytes.dropFirst(10))
            #expect("\(stream)" == "stream of \(file)")
            try loop.run(until: stream.close())
            let others = try (0..<3).map { try file.stream(from: $0 * 100_000) }
            let reads = others.map { $0.read(exactly: 500_000) }
            for (number, read) in reads.enumerated() {
                #expect(try loop.run(until: read)! == bytes.dropFirst(number * 100_000).prefix(500_000))
            }
            for stream in others { try loop.run(until: stream.close()) }
        }
    }

    @Test("who gives up reading and begins anew, again and again, gets each byte once")
    func readsAnew() throws {
        try withFile { loop, file, path in
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            try bytes.write(to: URL(filePath: path))
            let stream = try file.stream()
            var start = Data()
            for _ in 0..<20 {
                let reads = (0..<3).map { _ in
                    let read = stream.read()
                    read.cancel()
                    return read
                }
                try loop.run(until: loop.submit {})
                for case .success(let bytes)? in reads.map(\.result) { start += bytes }
            }
            #expect(try start + loop.run(until: stream.readToEnd()) == bytes)
            try loop.run(until: stream.close())
        }
    }

    @Test("lines come one after another, and nothing is read ahead of a consumer that waits")
    func lines() throws {
        try withFile { loop, file, path in
            try put((0..<100_000).map { "line \($0)\n" }.joined(), path)
            let stream = try file.stream()
            let body = Future(on: loop) {
                var count = 0
                for try await line in stream.lines() {
                    if count == 0 { #expect(stream.bytesReceived <= 262_144) }
                    #expect(String(decoding: line, as: UTF8.self) == "line \(count)")
                    count += 1
                }
                return count
            }
            #expect(try loop.run(until: body) == 100_000)
            try loop.run(until: stream.close())
        }
    }

    @Test("writes go to the end, or from a position on, in order")
    func writes() throws {
        try withFile { loop, file, path in
            try put("0123456789", path)
            let appending = try file.stream()
            for number in 0..<1000 { appending.write("\(number) ") }
            #expect(appending.bufferedBytes == 3890)
            try loop.run(until: appending.write(""))
            #expect(appending.bufferedBytes == 0)
            try loop.run(until: appending.shutdownWrite())
            #expect(contents(path) == "0123456789" + (0..<1000).map { "\($0) " }.joined())
            try loop.run(until: appending.close())
            let writing = try file.stream(writingAt: 2)
            writing.write("ab")
            writing.write([Data("c".utf8), Data("d".utf8)])
            try loop.run(until: writing.close())
            #expect(contents(path)!.hasPrefix("01abcd6789"))
        }
    }

    @Test("a file flows into another, and a connection into a file")
    func pipes() throws {
        try withDirectory { loop, directory, path in
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 5) })
            try bytes.write(to: URL(filePath: path + "/a"))
            let (from, to) = (
                try loop.run(until: directory.open("a")),
                try loop.run(until: directory.open("b", .writeOnly, creating: .always))
            )
            let (source, target) = (try from.stream(), try to.stream())
            #expect(try loop.run(until: source.pipe(to: target)) == bytes.count)
            try loop.run(until: source.close().and(target.close()).map { _ in })
            #expect(FileManager.default.contents(atPath: path + "/b") == bytes)
            let (client, server) = try loop.connectedPair()
            try loop.run(until: to.truncate(to: 0))
            let saved = try to.stream()
            client.write(bytes)
            client.shutdownWrite()
            #expect(try loop.run(until: server.pipe(to: saved)) == bytes.count)
            #expect(FileManager.default.contents(atPath: path + "/b") == bytes)
            try loop.run(until: saved.close())
            loop.closeAll(client, server)
            for file in [from, to] { try loop.run(until: file.close()) }
        }
    }

    @Test("a stream has the sides of its file, and a file that is closed has no stream")
    func sides() throws {
        try withDirectory { loop, directory, path in
            try put("x", path + "/a")
            let reader = try loop.run(until: directory.open("a"))
            let writer = try loop.run(until: directory.open("a", .writeOnly))
            let (reading, writing) = (try reader.stream(), try writer.stream())
            #expect(loop.failure(of: reading.write("x")) as? StreamError == .notWritable)
            #expect(loop.failure(of: writing.read()) as? StreamError == .notReadable)
            #expect(
                complaint { _ = try reader.stream(from: -1) }
                    == "a position of -1 in a file is negative; give zero or more")
            try loop.run(until: reading.close().and(writing.close()).map { _ in })
            try loop.run(until: reader.close().and(writer.close()).map { _ in })
            #expect(complaint { _ = try reader.stream() } == "the \(reader) has been closed, or was dropped")
        }
    }

    @Test("a failure of the system breaks the stream with its error")
    func fails() throws {
        try withFile { loop, file, path in
            let stream = try file.stream()
            let reads = (stream.read(), file.close())
            _ = loop.outcome(of: reads.0)
            try loop.run(until: reads.1)
            let writing = stream.write("x")
            #expect("\(loop.failure(of: writing)!)" == "the \(file) has been closed, or was dropped")
            #expect("\(loop.failure(of: stream.closed)!)" == "the \(file) has been closed, or was dropped")
        }
    }

    @Test("a write that the file does not take breaks the stream, which nobody reads")
    func failsToWrite() throws {
        try withDirectory { loop, directory, _ in
            let file = try loop.run(until: directory.open("a", .writeOnly, creating: .always))
            let stream = try file.stream()
            try loop.run(until: file.close())
            let sentence = "the \(file) has been closed, or was dropped"
            #expect(loop.failure(of: stream.write("x")).map { "\($0)" } == sentence)
            #expect(loop.failure(of: stream.closed).map { "\($0)" } == sentence)
        }
    }

    @Test("the end of the loop ends a stream at work")
    func shutdown() throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let loop = try EventLoop()
        let directory = try loop.run(until: Directory.open(path, on: loop))
        let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
        let stream = try file.stream()
        let (read, written, closed) = (stream.read(), stream.write("x"), stream.closed)
        loop.shutdown()
        for outcome in [
            read.result.map { "\($0)" }, written.result.map { "\($0)" }, closed.result.map { "\($0)" },
        ] {
            #expect(outcome != nil, "each future completes")
        }
    }
}
