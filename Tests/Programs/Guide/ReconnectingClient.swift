// An echo server that throws away the first connections, and a client that comes back until it is served.
import UVFutures

final class EchoServer {
    private(set) var connections = 0
    private let refusals: Int
    private var server: TCPServer?
    var port: Int { server?.localAddress.port ?? 0 }

    init(refusing refusals: Int, on loop: EventLoop) throws {
        self.refusals = refusals
        server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            self.serve(connection)
        }
    }

    private func serve(_ connection: TCPConnection) -> Future<Void> {
        connections += 1
        guard connections > refusals else { return connection.abort() }
        return connection.forEachChunk { chunk in connection.write(chunk) }
    }

    func shutdown() -> Future<Void> {
        guard let server else { fatalError("not listening") }
        return server.shutdown(within: .seconds(1)).asVoid()
    }
}

func ask(_ lines: [String], port: Int, on loop: EventLoop) -> Future<[String]> {
    loop.retry(attempts: 5, backoff: .exponential(initial: .milliseconds(5))) { attempt in
        TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
            .flatMap { connection in
                loop.traverse(lines, maxConcurrent: 1) { line in
                    connection.write(line + "\n")
                        .flatMap { connection.readLine().unwrap() }
                        .map { String(decoding: $0, as: UTF8.self) }
                }
                .always { connection.close() }
            }
            .timeout(after: .seconds(5))
            .tapError { _ in print("attempt \(attempt) failed") }
            .tap { _ in print("attempt \(attempt) succeeded") }
    }
    .timeout(after: .seconds(20))
}

let loop = EventLoop.main
let server = try EchoServer(refusing: 2, on: loop)
let port = server.port
print(try loop.run(until: ask(["one", "two", "three"], port: port, on: loop)))
print("connections:", server.connections)
try loop.run(until: server.shutdown())

let refused = ask(["anyone?"], port: port, on: loop)
    .map { "unexpected: \($0)" }
    .recover { error in
        guard let error = error as? SystemError, error.code == .connectionRefused else { throw error }
        return "nobody listens any more"
    }
print(try loop.run(until: refused))
