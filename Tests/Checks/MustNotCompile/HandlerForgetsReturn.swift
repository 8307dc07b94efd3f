// expect: ambiguous use of
import UVFutures

func listen(loop: EventLoop) throws {
    var kept: [SocketConnection] = []
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in
        print(connection)
        connection.write("hello\n")
    }
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in kept.append(connection) }
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { _ in }
    _ = try UnixServer.listen(path: "@x", on: loop) { connection in
        print(connection)
        connection.write("hello\n")
    }
    _ = TCPServer(on: loop) { connection in
        print(connection)
        connection.write("hello\n")
    }
    _ = try TCPServerGroup.listen(host: "::1", port: 0, loops: 2) { connection in
        print(connection)
        connection.write("hello\n")
    }
}

func listen(inTask loop: EventLoop) -> Future<Void> {
    Future(on: loop) {
        _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in
            print(connection)
            connection.write("hello\n")
        }
    }
}
