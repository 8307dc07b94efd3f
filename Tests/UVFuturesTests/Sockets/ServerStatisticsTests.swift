import Testing
import UVFutures

struct ServerStatisticsTests {
    @Test("a server counts its connections, their bytes, and why they ended", arguments: TestNetwork.allCases)
    func counts(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.idleTimeout = .seconds(1)
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop
            ) {
                connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            var errors: [any Error] = []
            server.onConnectionError = { errors.append($0) }
            #expect(server.statistics.accepted == 0 && server.statistics.closes.isEmpty)
            let (orderly, rude, idle) = (
                try loop.connect(to: server.localAddress), try loop.connect(to: server.localAddress),
                try loop.connect(to: server.localAddress)
            )
            for client in [orderly, rude] {
                client.write("hello")
                _ = try loop.run(until: client.read(exactly: 5))
            }
            #expect(server.statistics.active == 3)
            #expect(server.statistics.bytesReceived == 10 && server.statistics.bytesSent == 10)
            orderly.close()
            rude.abort()
            #expect(try loop.run(until: idle.read()).isEmpty, "closed in order")
            loop.closeAll(idle)
            try loop.runUntil { server.activeConnections + server.statistics.lingering == 0 }
            let after = server.statistics
            #expect(after.accepted == 3 && after.shed == 0 && after.active == 0 && after.draining == 0)
            #expect(after.bytesReceived == 10 && after.bytesSent == 10)
            #expect(after.closes == [.closed: 1, .broken(.connectionReset): 1, .timedOut(.idle): 1])
            #expect(
                "\(after)"
                    == "3 connections accepted, 0 shed, 0 active, 0 draining, 0 lingering; 10 bytes received, 10 sent; "
                    + "closed: ECONNRESET 1, closed 1, idleTimeout 1")
            #expect(errors.count == 2)
            server.close()
        }
    }

    @Test(
        "connections that are aborted at the end of the grace are counted as such",
        arguments: TestNetwork.allCases)
    func aborted(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { _ in }
            }
            let client = try loop.connect(to: server.localAddress)
            client.write("x")
            while server.statistics.bytesReceived == 0 {
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
            }
            let end = server.shutdown(within: .milliseconds(20))
            _ = try loop.run(until: end)
            #expect(server.statistics.closes == [.aborted: 1])
            client.abort()
        }
    }

    @Test(
        "connections that linger and were crowded out by others are counted as such",
        arguments: TestNetwork.allCases)
    func crowdedOut(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var limits = StreamLimits()
            limits.maxLingering = 2
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: loop
            ) { $0.write("welcome").asVoid() }
            var errors: [StreamError?] = []
            server.onConnectionError = { errors.append($0 as? StreamError) }
            let clients = try (0..<5).map { _ in try loop.connect(to: server.localAddress) }
            try loop.runUntil { server.statistics.accepted == 5 && server.activeConnections == 0 }
            #expect(server.statistics.lingering == 2)
            #expect(server.statistics.closes == [.crowdedOut: 3])
            #expect(errors == Array(repeating: .crowdedOut(limit: 2), count: 3))
            server.onConnectionError = { _ in }
            for client in clients { client.abort() }
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test("a reason for an end is one word, and a summary is one line")
    func texts() {
        let words: [(CloseReason, String)] = [
            (.closed, "closed"), (.aborted, "aborted"), (.cut, "cut"), (.timedOut(.idle), "idleTimeout"),
            (.flushTimedOut, "flushTimedOut"), (.unacknowledged, "unacknowledged"),
            (.crowdedOut, "crowdedOut"), (.madeRoom, "madeRoom"),
            (.backpressureExceeded, "backpressureExceeded"), (.broken(.brokenPipe), "EPIPE"),
            (.other, "other"),
        ]
        for (reason, word) in words { #expect("\(reason)" == word) }
        #expect(
            "\(ShutdownSummary(finished: 3, aborted: 2, cut: 2))"
                == "3 connections finished, 2 were aborted, 0 failed, 2 were cut")
    }
}
