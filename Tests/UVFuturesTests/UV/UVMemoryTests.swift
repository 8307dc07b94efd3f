import CHeap
import FoundationEssentials
import Futures
import Glibc
import Testing
import UVFutures

struct UVMemoryTests {
    @Test("a loop gives its memory back, and so do its sockets, files and programs")
    func givenBack() async {
        await #expect(processExitsWith: .success) {
            func heapInUse() -> Int {
                let heap = mallinfo2()
                return heap.uordblks + heap.hblkhd
            }
            // The first ones fill what all loops share.
            for _ in 0..<20 { try Self.round() }
            let before = heapInUse()
            for _ in 0..<200 { try Self.round() }
            let grown = heapInUse() - before
            #expect(grown < 200 * 300, "\(grown)")
        }
    }

    private static func round() throws {
        let loop = try EventLoop()
        let (client, server) = try loop.connectedPair()
        client.write(Data(count: 400_000)).ignoreFailure()
        client.shutdownWrite()
        #expect(try loop.run(until: server.readToEnd(limit: 1_000_000)).count == 400_000)
        loop.closeAll(client, server)
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        let received = socket.receive()
        socket.send("x", to: socket.localAddress)
        _ = try loop.run(until: received)
        try loop.run(until: socket.close())
        let stream = try DescriptorStream(adopting: file(), on: loop)
        try loop.run(until: stream.write([Data](repeating: Data([1]), count: 60)))
        try loop.run(until: stream.close())
        var program = ChildProcess.Configuration("/nowhere/program")
        program.arguments = ["one", "two"]
        for _ in 0..<4 { #expect(throws: ProcessError.self) { try ChildProcess.start(program, on: loop) } }
        loop.shutdown()
    }
}
