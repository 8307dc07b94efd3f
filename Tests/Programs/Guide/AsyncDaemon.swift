// An asynchronous main: a server whose handler awaits, a class with [weak self], a client, and an orderly end.
import UVFutures

final class Counter {
    private let loop: EventLoop
    private(set) var lines = 0
    private(set) var reached: Future<Int>?

    init(on loop: EventLoop) { self.loop = loop }

    func count() { lines += 1 }

    /// Waits until there have been so many lines, unless nobody holds the counter by then.
    func wait(for wanted: Int) {
        reached = Future(on: loop) { [weak self, loop] in
            while let lines = self?.lines, lines < wanted {
                try await loop.sleep(for: .milliseconds(1)).value
            }
            return wanted
        }
    }
}

@main struct Daemon {
    static func main() async throws {
        let loop = EventLoop.main
        let counter = Counter(on: loop)
        counter.wait(for: 3)

        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            for try await line in connection.lines() {
                counter.count()
                try await connection.write("you said: " + String(decoding: line, as: UTF8.self) + "\n").value
            }
        }

        let port = server.localAddress.port
        let connection = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).value
        for word in ["one", "two", "three"] {
            try await connection.write(word + "\n").value
            let answer = try await connection.readLine().unwrap().value
            print(String(decoding: answer, as: UTF8.self))
        }
        if let lines = try await counter.reached?.value { print("\(lines) lines") }
        try await connection.close().value
        try await server.drain(within: .seconds(1)).asVoid().value
        print("drained, on the loop: \(loop.isCurrent)")
    }
}
