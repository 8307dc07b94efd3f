import CHeap
import Futures
import Glibc
import Testing
import UVFutures

/// With their clients in the same process, which hold nothing but descriptors. `Tests/Checks/idle.sh` has ten thousand
/// connections, and the clients in another process.
struct IdleConnectionTests {
    @Test("an idle connection takes 1,024 bytes of heap at most, some more with an idle timeout")
    func heap() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            raiseDescriptorLimit()
            let loop = try EventLoop()
            let withoutTimeout = try heapOfConnection(to: chunkServer(StreamLimits(), on: loop))
            var limits = StreamLimits()
            limits.idleTimeout = .seconds(60)
            let withTimeout = try heapOfConnection(to: chunkServer(limits, on: loop))
            loop.shutdown()
            print("sizes", withoutTimeout, withTimeout)
        }
        let sizes = sizes(in: result)
        try #require(sizes.count == 2)
        #expect(sizes[0] <= 1_024 + debugging)
        #expect(sizes[1] <= 1_152 + debugging)
    }

    @Test("the task of a body that waits for chunks takes one block of memory")
    func heapOfBody() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            raiseDescriptorLimit()
            let loop = try EventLoop()
            let onNothing = try heapOfConnection(to: serverByBodies(on: loop))
            loop.shutdown()
            print("sizes", onNothing)
        }
        let sizes = sizes(in: result)
        try #require(sizes.count == 1)
        // A second block of the task would be 1,024 bytes.
        #expect(sizes[0] <= 2_816 + debuggingBody)
    }
}

private func sizes(in result: ExitTest.Result?) -> [Int] {
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
    return output.first { $0.hasPrefix("sizes ") }?.split(separator: " ").compactMap { Int($0) } ?? []
}

/// What a build for debugging takes to remember where each future was made.
private var debugging: Int {
    #if DEBUG
        512
    #else
        0
    #endif
}

/// The same for a body. Without optimization, its functions also need more memory than the task's first block.
private var debuggingBody: Int {
    #if DEBUG
        debugging + 3_072
    #else
        0
    #endif
}

private func chunkServer(_ limits: StreamLimits, on loop: EventLoop) throws -> TCPServer {
    try TCPServer.listen(host: "127.0.0.1", port: 0, backlog: 1024, limits: limits, on: loop) { connection in
        connection.forEachChunk { chunk in connection.write(chunk) }
    }
}

private func serverByBodies(on loop: EventLoop) throws -> TCPServer {
    try TCPServer.listen(host: "127.0.0.1", port: 0, backlog: 1024, on: loop) { connection in
        for try await chunk in connection.chunks { try await connection.write(chunk).value }
    }
}

private func heapOfConnection(to server: TCPServer) throws -> Int {
    let loop = server.loop
    // Tables grow by jumps: this many fill them about as they are filled on average.
    var clients = try connect(500, to: server)
    let before = heapInUse()
    clients += try connect(1_000, to: server)
    let each = (heapInUse() - before) / 1_000
    for client in clients { close(client) }
    _ = try loop.run(until: server.shutdown(within: .seconds(30)))
    return each
}

private func heapInUse() -> Int {
    let heap = mallinfo2()
    return heap.uordblks + heap.hblkhd
}

/// The descriptors of sockets that are connected to `server`, which has accepted them.
private func connect(_ count: Int, to server: TCPServer) throws -> [CInt] {
    let target = server.activeConnections + count
    let clients = (0..<count).map { _ in
        let socket = PlainSocket.connected(to: server.localAddress.port)
        return withExtendedLifetime(socket) { dup(socket.descriptor) }
    }
    try server.loop.runUntil { server.activeConnections == target }
    return clients
}

private func raiseDescriptorLimit() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
