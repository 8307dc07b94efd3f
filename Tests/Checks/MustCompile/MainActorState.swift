import UVFutures

/// The main actor's state, on the main loop.
@MainActor final class Model {
    var lines: [String] = []
    private var request: Future<Int>?

    func refresh(on loop: EventLoop) {
        request?.cancel()
        request = loop.sleep(for: .seconds(1)).map {
            self.lines.append("slept")
            return self.lines.count
        }
        request?.whenSuccess { count in self.lines.append("\(count)") }
    }

    func load(on loop: EventLoop) async throws {
        try await loop.sleep(for: .seconds(1)).value
        lines.append("awaited")
        for try await tick in loop.ticks(every: .seconds(1)) { lines.append("\(tick)") }
    }
}

@MainActor func serve(_ model: Model, on loop: EventLoop) throws -> TCPServer {
    try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
        model.lines.append("\(connection)")
        return connection.close()
    }
}
