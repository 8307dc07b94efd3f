import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct OpenDescriptorTests {
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
                    == "D is a socket for messages, which have no order and no end; give a stream socket")
            let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            listen(listening, 1)
            #expect(
                refusal(listening)
                    == "D is a socket that listens, and carries no bytes; accept connections from it")
            #expect(
                refusal(dup(loop.pollDescriptor))
                    == "D is not a stream of bytes; wait for it with watch(descriptor:)")
            var limits = StreamLimits()
            limits.writeCap = -1
            #expect(throws: FutureError.self) { try loop.makePipe(limits: limits) }
            let file = try UVFuturesTests.file()
            #expect(throws: FutureError.self) {
                try DescriptorStream(adopting: file, limits: limits, on: loop)
            }
            #expect(close(file) == 0)
        }
    }
}
