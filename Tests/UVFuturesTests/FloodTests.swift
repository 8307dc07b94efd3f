import Dispatch
import Glibc
import TestSupport
import Testing
import UVFutures

struct FloodTests {
    @Test("a peer that floods holds up neither timers nor other connections")
    func flood() throws {
        try withLoop { loop in
            var flooded = 0
            let sink = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { chunk in flooded += chunk.count }
            }
            let echo = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            // The client leaves with an answer unread.
            echo.onConnectionError = { _ in }
            let ended = Counter()
            let flooder = DispatchGroup()
            let port = sink.localAddress.port
            startThread(of: flooder) {
                let socket = PlainSocket.connected(to: port)
                let block = [UInt8](repeating: 1, count: 1 << 20)
                while ended.value == 0, socket.send(block) {}
            }

            while flooded == 0 { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            let seconds = isSoaking ? 10 : 2
            let client = try loop.connect(to: echo.localAddress)
            var roundTrips = 0
            func goOn() -> Future<Void> {
                client.write("ping").flatMap { client.read(exactly: 4) }.flatMap { _ in
                    roundTrips += 1
                    return goOn()
                }
            }
            let pinging = goOn()
            var ticks = 0
            let ticking = loop.repeat(every: .milliseconds(10), pace: .fixedRate) { ticks += 1 }
            let before = processorMilliseconds()
            try loop.run(until: loop.sleep(for: .seconds(seconds)))

            // In a sanitizer and beside other tests, half of them are enough, and only the time counts in which
            // this thread had a processor: libuv reads up to 32 blocks before it looks at its timers.
            let expected = isSoaking ? seconds * 90 : (processorMilliseconds() - before) / 20
            #expect(ticks >= expected, "\(ticks) ticks, \(expected) expected")
            #expect(roundTrips >= expected / 10, "\(roundTrips) round trips")
            #expect(flooded > 10_000_000)

            ended.value = 1
            ticking.cancel()
            ticking.future.ignoreFailure()
            pinging.ignoreFailure()
            try loop.closeAll(client)
            _ = try loop.run(until: sink.shutdown(grace: .seconds(5)).and(echo.shutdown(grace: .seconds(5))))
            flooder.wait()
        }
    }
}

/// How long this thread has run so far.
private func processorMilliseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
