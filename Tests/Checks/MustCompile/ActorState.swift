import UVFutures

/// An actor on the loop uses its state in callbacks, in asynchronous bodies and beside futures that it keeps.
actor Session {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var names: [String] = []
    private var connection: TCPConnection?
    private var pending: [Promise<Int>] = []

    init(on loop: EventLoop) { self.loop = loop }

    func open(port: Int) -> Int {
        TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).whenSuccess { connection in
            self.connection = connection
            self.greet()
        }
        return names.count
    }

    func next() async throws -> Int {
        let promise = loop.makePromise(of: Int.self)
        pending.append(promise)
        let number = try await promise.future.map { $0 + self.names.count }.value
        names.append("\(number)")
        return number
    }

    func readLines() {
        guard let connection else { return }
        Future(on: loop) {
            for try await line in connection.lines() {
                self.names.append(String(decoding: line, as: UTF8.self))
            }
            self.connection = nil
        }.whenComplete { _ in self.names.removeAll() }
    }

    private func greet() {
        connection?.write("hello").whenSuccess { self.pending.popLast()?.succeed(1) }
    }
}

/// Others call it as any actor, or from a callback of its loop.
func call(_ session: Session) async throws -> Int {
    session.loop.execute { session.assumeIsolated { session in _ = session.open(port: 80) } }
    return try await session.next()
}
