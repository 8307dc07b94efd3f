import Dispatch
import Glibc
import TestSupport
import Testing
import UVFutures

struct BridgeTests {
    /// Drives `loop` as a foreign poll loop does, until `future` completes.
    private func drive<Value>(_ loop: EventLoop, until future: Future<Value>) throws -> Value {
        while true {
            if let result = future.result { return try result.get() }
            let timeout = loop.pollTimeout.map { CInt($0 / .milliseconds(1)) } ?? -1
            var entry = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
            unsafe poll(&entry, 1, timeout)
            try loop.turn()
        }
    }

    @Test("a foreign poll loop drives timers, sockets and callbacks")
    func drives() throws {
        try withLoop { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { connection.write($0) }
            }
            let port = server.localAddress.port
            let reply = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).flatMap { connection in
                connection.write("hello\n")
                return connection.readLine().always { connection.close() }
            }
            let line = try drive(loop, until: reply)
            #expect(line.map { String(decoding: $0, as: UTF8.self) } == "hello")
            try drive(loop, until: loop.sleep(for: .milliseconds(5)))
            try drive(loop, until: loop.submit {})
            server.close()
            try drive(loop, until: loop.submit {})
        }
    }

    @Test("a loop in a foreign poll loop is busy in its turns")
    func busy() throws {
        try withLoop { loop in
            loop.measureBusyTime()
            let start = loop.statistics
            try drive(loop, until: loop.sleep(for: .milliseconds(30)))
            let waited = loop.statistics
            #expect(waited.busy > .zero && waited.idle >= .milliseconds(5))
            let spun = loop.submit {
                let start = loop.now
                while start.duration(to: loop.now) < .milliseconds(5) {}
            }
            try drive(loop, until: spun)
            #expect(loop.statistics.busy - start.busy >= .milliseconds(5))
        }
    }

    @Test("a loop that has nothing to do lets the poll loop wait for as long as it likes")
    func idle() throws {
        try withLoop { loop in
            // libuv has yet to watch its own descriptor.
            #expect(loop.pollTimeout == .zero)
            try loop.turn()
            #expect(loop.pollTimeout == nil)
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenSuccess { _ in }
            #expect(loop.pollTimeout == nil)
            promise.succeed(1)
            #expect(loop.pollTimeout == .zero)
            #expect(try loop.turn() == false)
            #expect(loop.pollTimeout == nil)
            let sleeping = loop.sleep(for: .seconds(60))
            #expect(try loop.turn())
            let timeout = try #require(loop.pollTimeout)
            #expect(timeout > .seconds(50) && timeout <= .milliseconds(60_001))
            sleeping.cancel()
            try loop.turn()
        }
    }

    @Test("a socket that was opened after the last turn is not forgotten")
    func unpolled() throws {
        try withLoop { loop in
            try loop.turn()
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepted = listener.accept()
            #expect(loop.pollTimeout == .zero)
            try loop.turn()
            #expect(loop.pollTimeout == nil)
            let client = PlainSocket.connected(to: listener.localAddress.port)
            let connection = try drive(loop, until: accepted)
            connection.abort()
            try drive(loop, until: listener.close())
            withExtendedLifetime(client) {}
        }
    }

    @Test("a job of another thread makes the descriptor readable")
    func otherThread() throws {
        try withLoop { loop in
            try loop.turn()
            let promise = loop.makePromise(of: Int.self)
            let threads = DispatchGroup()
            startThread(of: threads) { loop.execute {} }
            threads.wait()
            #expect(loop.pollTimeout == nil)
            var entry = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&entry, 1, 10_000) == 1)
            loop.submit { promise.succeed(1) }.whenSuccess { _ in }
            _ = try drive(loop, until: promise.future)
        }
    }

    @Test("what a poll loop waits for is asked on the thread of the loop", arguments: [false, true])
    func elsewhere(asksTime: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [asksTime] in
            let loop = try EventLoop()
            try onThread { _ = asksTime ? loop.pollTimeout == nil : loop.pollDescriptor < 0 }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("used off its event loop's thread."), "\(text)")
    }

    @Test("a turn in a callback traps, and on a loop that has been shut down it fails")
    func misuse() async throws {
        try withLoop { loop in
            loop.shutdown()
            #expect(throws: FutureError.shutDown) { try loop.turn() }
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            _ = try loop.run(until: loop.submit { try loop.turn() })
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(message?.contains("turn() was called on an event loop that is running.") == true)
    }
}
