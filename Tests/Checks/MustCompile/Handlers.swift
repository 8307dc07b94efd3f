import UVFutures

func handle(_ connection: SocketConnection) -> Future<Void> { connection.write("hello\n") }
nonisolated(nonsending) func serve(_ connection: SocketConnection) async throws {
    try await connection.write("hello\n").value
}

/// A handler returns a future, or awaits, or owns its connections.
func handlers(loop: EventLoop) throws {
    var kept: [SocketConnection] = []
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop, handle)
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop, awaiting: serve)
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop, owning: { kept.append($0) })
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in connection.write("hello\n") }
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in
        print(connection)
        return connection.forEachChunk { connection.write($0) }
    }
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in
        kept.append(connection)
        for try await line in connection.lines() { connection.write(line) }
    }
    _ = try UnixServer.listen(path: "@x", on: loop) { connection in
        for try await line in connection.lines() { connection.write(line) }
    }
    _ = try UnixServer.listen(path: "@x", on: loop, owning: { kept.append($0) })
    _ = SocketServer<SocketConnection>(on: loop) { connection in try await serve(connection) }
    _ = SocketServer<SocketConnection>(on: loop, owning: { kept.append($0) })
    _ = try TCPServerGroup.listen(host: "::1", port: 0, loops: 2) { connection in
        for try await line in connection.lines() { connection.write(line) }
    }
    _ = try TCPServerGroup.listen(host: "::1", port: 0, loops: 2, owning: { print($0) })
}

@MainActor
final class Chat {
    private var members: [TCPConnection] = []

    func listen() throws -> TCPServer {
        try TCPServer.listen(host: "::1", port: 0, on: .main) { connection in
            self.members.append(connection)
            for try await line in connection.lines() { for member in self.members { member.write(line) } }
        }
    }
}
