// expect: ambiguous use of
import TLSStreams
import UVFutures

func listen(loop: EventLoop, context: TLSContext) throws {
    var kept: [ByteStream] = []
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in  // here
        print(connection)
        connection.write("hello\n")
    }
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { peer in kept.append(peer) }  // here
    _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { _ in }  // here
    _ = try UnixServer.listen(path: "@x", on: loop) { connection in  // here
        print(connection)
        connection.write("hello\n")
    }
    _ = try UnixServer.listen(path: "@x", on: loop) { connection in kept.append(connection) }  // here
    _ = try UnixServer.listen(path: "@x", on: loop) { _ in }  // here
    _ = TCPServer(on: loop) { connection in  // here
        print(connection)
        connection.write("hello\n")
    }
    _ = TCPServer(on: loop) { connection in kept.append(connection) }  // here
    _ = UnixServer(on: loop) { _ in }  // here
    _ = SocketServer<SocketConnection>(on: loop) { _ in }  // here
    _ = try TCPServerGroup.listen(host: "::1", port: 0, loops: 2) { connection in  // here
        print(connection)
        connection.write("hello\n")
    }
    _ = try TCPServerGroup.listen(host: "::1", port: 0, loops: 2) { _ in }  // here
    _ = try TLSServer.listen(host: "::1", port: 0, context: context) { connection in  // here
        print(connection)
        connection.write("hello\n")
    }
    _ = try TLSServer.listen(host: "::1", port: 0, context: context) { peer in kept.append(peer) }  // here
    _ = try TLSServer.listen(host: "::1", port: 0, context: context) { _ in }  // here
}

func listen(inTask loop: EventLoop) -> Future<Void> {
    Future(on: loop) {
        _ = try TCPServer.listen(host: "::1", port: 0, on: loop) { connection in  // here
            print(connection)
            connection.write("hello\n")
        }
    }
}

func listenEncrypted(inTask loop: EventLoop, context: TLSContext) -> Future<Void> {
    Future(on: loop) {
        _ = try TLSServer.listen(host: "::1", port: 0, context: context) { connection in  // here
            print(connection)
            connection.write("hello\n")
        }
    }
}
