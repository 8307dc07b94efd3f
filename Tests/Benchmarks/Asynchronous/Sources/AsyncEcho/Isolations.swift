import Foundation
import UVFutures

let lineLimit = 4 << 20
let lineEnd = Data("\n".utf8)

/// A body that is isolated to nothing: what a function that is no actor's method has.
func serveOnNothing(on loop: EventLoop, byLines: Bool) throws -> TCPServer {
    if byLines {
        return try TCPServer.listen(
            host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop
        ) { connection in
            for try await line in connection.lines(limit: lineLimit) {
                try await connection.write(line + lineEnd).value
            }
        }
    }
    return try TCPServer.listen(host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop) {
        connection in
        for try await chunk in connection.chunks { try await connection.write(chunk).value }
    }
}

/// An actor whose executor is the loop.
actor Echo {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var messages = 0

    private var server: TCPServer?

    init(on loop: EventLoop) { self.loop = loop }

    /// Listens, and returns the address. What the closure does is isolated to this actor.
    func listen(byTasks: Bool, byLines: Bool) throws -> SocketAddress {
        let server = try TCPServer.listen(
            host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop
        ) { connection in
            if byTasks {
                self.serveInTask(connection, byLines: byLines)
            } else {
                self.serve(connection, byLines: byLines)
            }
            return connection.closed
        }
        self.server = server
        return server.localAddress
    }

    /// A body for each connection.
    private func serve(_ connection: TCPConnection, byLines: Bool) {
        let end = Future(on: loop) {
            if byLines {
                for try await line in connection.lines(limit: lineLimit) {
                    self.messages += 1
                    try await connection.write(line + lineEnd).value
                }
            } else {
                for try await chunk in connection.chunks {
                    self.messages += 1
                    try await connection.write(chunk).value
                }
            }
        }
        end.always { connection.close() }.ignoreFailure()
    }

    /// A task of one's own for each connection.
    private func serveInTask(_ connection: TCPConnection, byLines: Bool) {
        Task {
            if byLines {
                for try await line in connection.lines(limit: lineLimit) {
                    messages += 1
                    try await connection.write(line + lineEnd).value
                }
            } else {
                for try await chunk in connection.chunks {
                    messages += 1
                    try await connection.write(chunk).value
                }
            }
            connection.close()
        }
    }
}
