import CHeap
import Futures
import Glibc
import Testing
import UVFutures

/// With their clients in the same process, which hold nothing but descriptors. `Examples/Checks/idle.sh` has ten thousand
/// connections, and the clients in another process.
struct IdleConnectionTests {
    @Test("an idle connection takes 1,024 bytes of heap at most, some more with an idle timeout")
    func heap() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            raiseDescriptorLimit()
            let loop = try EventLoop()
            let withoutTimeout = try heapOfConnection(StreamLimits(), on: loop)
            var limits = StreamLimits()
            limits.idleTimeout = .seconds(60)
            let withTimeout = try heapOfConnection(limits, on: loop)
            loop.shutdown()
            print("sizes", withoutTimeout, withTimeout)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(
            separator: "\n")
        let sizes =
            output.first { $0.hasPrefix("sizes ") }?.split(separator: " ").compactMap { Int($0) } ?? []
        try #require(sizes.count == 2)
        #expect(sizes[0] <= 1_024 + debugging)
        #expect(sizes[1] <= 1_152 + debugging)
    }
}

/// What a build for debugging takes to remember where each future was made.
private var debugging: Int {
    #if DEBUG
        512
    #else
        0
    #endif
}

private func heapOfConnection(_ limits: StreamLimits, on loop: EventLoop) throws -> Int {
    let server = try TCPServer.listen(
        host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 1024, limits: limits), on: loop
    ) {
        connection in
        connection.forEachChunk { chunk in connection.write(chunk) }
    }
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
