import Dispatch
import TestSupport
import Testing
import UVFutures

struct FloodTests {
    @Test("a peer that floods holds up neither timers nor other connections")
    func flood() throws {
        try withLoop { loop in
            let interval = Duration.milliseconds(10)
            var due = ContinuousClock.now
            var (chunks, late) = (0, 0)
            let sink = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { _ in
                    chunks += 1
                    if ContinuousClock.now > due { late += 1 }
                }
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

            while chunks == 0 { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            let client = try loop.connect(to: echo.localAddress)
            let enough = isSoaking ? 1000 : 100
            var (ticks, latest, roundTrips) = (0, 0, 0)
            func ping() -> Future<Void> {
                client.write("ping").flatMap { client.read(exactly: 4) }.map { _ in roundTrips += 1 }
            }
            func tick() -> Future<Void> {
                late = 0
                // A loop rounds up to whole milliseconds, and libuv's clock may be one behind: a hundred chunks each.
                due = .now + interval + .milliseconds(2)
                return loop.sleep(for: interval).map {
                    ticks += 1
                    latest = max(latest, late)
                }
            }
            let before = chunks
            func goesOn() -> Bool { min(ticks, roundTrips, (chunks - before) / 32) < enough }
            let ticking = loop.repeat(while: goesOn, tick)
            let pinging = loop.repeat(while: goesOn, ping)
            _ = try loop.run(until: ticking.and(pinging))

            // libuv reads up to 32 blocks of a connection before it looks at its timers and at others. What a
            // slow machine takes for these, or in which it does something else, proves nothing.
            #expect(latest <= 3 * 32, "a tick came \(latest) chunks late")
            #expect(
                (chunks - before) / roundTrips <= 8 * 32, "\(chunks - before) chunks, \(roundTrips) answers")

            ended.value = 1
            loop.closeAll(client)
            _ = try loop.run(
                until: sink.shutdown(within: .seconds(5)).and(echo.shutdown(within: .seconds(5))))
            flooder.wait()
        }
    }
}
