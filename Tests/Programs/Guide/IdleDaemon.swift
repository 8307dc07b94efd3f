// A daemon that has nothing to do takes no processor time, whatever has run before.
import Dispatch
import Glibc
import UVFutures

@concurrent func elsewhere() async {}

@main struct Daemon {
    static func main() async throws {
        let loop = EventLoop.main
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            for try await line in connection.lines() { try await connection.write(line + "\n".utf8).value }
        }
        let port = server.localAddress.port
        let connection = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).value
        try await connection.write("hello\n").value
        _ = try await connection.readLine().value
        await Task { await elsewhere() }.value
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }

        let start = clock()
        try await loop.sleep(for: .milliseconds(500)).value
        let milliseconds = (clock() - start) / 1000
        print("idle: \(milliseconds < 50)")
        try await connection.close().value
        try await server.drain(within: .seconds(1)).asVoid().value
    }
}
