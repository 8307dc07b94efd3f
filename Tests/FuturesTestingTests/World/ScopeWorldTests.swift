import Foundation
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct ScopeWorldTests {
    /// A server with a scope, whose handlers clean up, and clients that come, ask and go. In the middle of this the scope is
    /// told to end, while messages are lost, and hosts are cut off or stand still.
    private static func end(_ world: World) throws {
        let server = try world.addHost("server")
        let clients = try ["a", "b"].map { try world.addHost($0) }
        let loop = server.loop
        var (begun, ended, beside) = (0, 0, 0)
        let scope = FutureScope(on: loop)
        let tcp = scope.add(
            try TCPServer.listen(host: "0.0.0.0", port: 7, on: loop) { connection in
                begun += 1
                defer { ended += 1 }
                connection.scope.run(onDrain: .cancel) {
                    beside += 1
                    defer { beside -= 1 }
                    for try await _ in loop.ticks(every: .milliseconds(7)) { connection.write("tick\n") }
                }
                do {
                    for try await line in connection.lines() { connection.write(line + Data("\n".utf8)) }
                } catch {
                    try await loop.shielded(within: .seconds(1)) {
                        try await loop.sleep(for: .milliseconds(3)).value
                    }
                    throw error
                }
                connection.scope.cancel()
            })
        tcp.onConnectionError = { _ in }
        scope.run(onDrain: .cancel) {
            for try await _ in loop.ticks(every: .milliseconds(5)) { world.note("\(tcp.activeConnections)") }
        }
        for client in clients {
            client.loop.repeat(every: .milliseconds(4), onFailure: .continue) {
                TCPConnection.connect(host: "server", port: 7, timeout: .seconds(2), on: client.loop)
                    .flatMap { connection in
                        connection.write("hello\n")
                        return connection.readLine().always { connection.close() }
                    }
            }
            .future.ignoreFailure()
        }
        var mix = World.FaultMix()
        mix.kinds.removeAll { $0 == .crash }
        world.injectFaults(mix, until: .seconds(1))
        let moment = Duration.milliseconds(Int.random(in: 1...900, using: &loop.random))
        let isDrained = Bool.random(using: &loop.random)
        var isOver = false
        world.schedule(after: moment) {
            if isDrained { scope.drain(within: .milliseconds(200)) } else { scope.cancel() }
        }
        scope.ended.whenComplete { _ in isOver = true }
        try world.run(until: { isOver }, within: .seconds(120))
        guard begun == ended, beside == 0 else { throw Unended(begun: begun, ended: ended, beside: beside) }
        guard tcp.ended.isSuccess, tcp.activeConnections == 0 else {
            throw Unended(begun: begun, ended: -1, beside: beside)
        }
    }

    private struct Unended: Error {
        let begun, ended, beside: Int
    }

    @Test("a scope ends, and so does all that it has started, whatever fails in the middle of its end")
    func ends() throws {
        let seeds: UInt64 = isSoaking ? 1000 : 50 / UInt64(slowShare)
        try World.explore(seeds: 0..<seeds, repeating: false, Self.end)
    }
}
