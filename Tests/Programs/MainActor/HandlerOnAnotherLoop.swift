// Handlers, bodies and promises of the main actor run on another loop of the main thread than the main one.
import UVFutures

@concurrent func elsewhere() async {}

@MainActor final class Count { var lines = 0 }

@main struct Program {
    @MainActor static func main() throws {
        let loop = try EventLoop()
        let count = Count()
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            for try await line in connection.lines() {
                MainActor.assertIsolated()
                count.lines += 1
                await elsewhere()
                try await Task.sleep(for: .milliseconds(1))
                try await connection.write(line + "\n".utf8).value
            }
        }
        let port = server.localAddress.port
        let client = Future(on: loop) {
            let connection = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).value
            for _ in 0..<3 {
                try await connection.write("hello\n").value
                _ = try await connection.readLine().value
            }
            try await connection.close().value
        }
        try loop.run(until: client.timeout(after: .seconds(20)))
        let promise = loop.makePromise(of: Int.self)
        promise.complete(awaiting: {
            MainActor.assertIsolated()
            return count.lines
        })
        print(try loop.run(until: promise.future.timeout(after: .seconds(20))))
        _ = try loop.run(until: server.drain(within: .seconds(1)))
    }
}
