// A server whose handler awaits, in a class that is isolated to nothing: what it counts needs no lock.
import UVFutures

final class Shouter {
    private let loop: EventLoop
    private var shouts = 0

    init(on loop: EventLoop) { self.loop = loop }

    func listen() throws -> TCPServer {
        try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            for try await line in connection.lines() {
                self.shouts += 1
                let text = String(decoding: line, as: UTF8.self).uppercased()
                try await connection.write("\(self.shouts) \(text)\n").value
                precondition(self.loop.isCurrent)
            }
        }
    }
}

let loop = try EventLoop()
let server = try Shouter(on: loop).listen()
let answers = TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop)
    .flatMap { client in
        client.write("hello\ngood bye\n")
        client.shutdownWrite()
        return client.readToEnd().always { client.close() }
    }
print(String(decoding: try loop.run(until: answers), as: UTF8.self), terminator: "")
print("aborted:", try loop.run(until: server.shutdown(within: .seconds(60))).aborted)
