public import UVFutures

/// Serves clients that say a name in each line, and greets each of them. Each minute, `report` is told how many it greeted.
public func greetClients(
    host: String, port: Int, on loop: EventLoop, report: @escaping (String) -> Void
) throws -> TCPServer {
    var count = 0
    var limits = StreamLimits()
    limits.idleTimeout = .seconds(60)
    let server = try TCPServer.listen(
        host: host, port: port, options: ListenOptions(limits: limits), on: loop
    ) { connection in
        for try await line in connection.lines() {
            count += 1
            try await connection.write("hello, \(line.text)\n").value
        }
    }
    loop.repeat(every: .seconds(60), keepsLoopAlive: false) { report("greeted \(count) clients") }
    return server
}
