import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct UVPipeTests {
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

    @Test("a pipe whose reader is gone fails the write, by name")
    func brokenPipe() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            close(ends[0])
            let writing = try DescriptorStream(adopting: ends[1], on: loop)
            #expect((loop.failure(of: writing.write("x")) as? SystemError)?.code == .brokenPipe)
            #expect((loop.failure(ofEnd: writing) as? SystemError)?.code == .brokenPipe)
        }
    }
}
