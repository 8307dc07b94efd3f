import Glibc
import Testing
import UVFutures

struct EndAtSignalTests {
    @Test("a second signal means now", arguments: [SIGTERM, SIGINT], TestNetwork.allCases)
    func secondSignal(second: CInt, network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [second, network] in
            try withLoop(network) { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
                let client = try loop.connect(to: server.localAddress)
                let drained = server.drain(on: .terminate, .interrupt, within: .seconds(600))
                try loop.runUntil { server.activeConnections == 1 }
                network.send(.terminate, to: loop)
                try loop.runUntil { server.statistics.draining == 1 }
                #expect(!drained.isCompleted)
                network.send(ProcessSignal(rawValue: second), to: loop)
                #expect(try loop.run(until: drained) == ShutdownSummary(finished: 0, aborted: 1))
                _ = loop.outcome(of: client.close())
            }
        }
    }

    @Test(
        "signals that nobody may have are refused, and none is caught then", arguments: TestNetwork.allCases)
    func refusedSignals(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, answerLines)
            let child = ProcessSignal(rawValue: SIGCHLD)
            let error = loop.failure(of: server.drain(on: .user1, child, within: .seconds(1)))
            #expect("\(error!)".hasPrefix("signal \(SIGCHLD) cannot be waited for: "))
            #expect(loop.failure(of: server.drain(on: .user1, within: .seconds(-1))) is FutureError)
            let waiting = server.drain(on: .user1, within: .seconds(1))
            #expect(waiting.cancel())
            let client = try loop.connect(to: server.localAddress)
            #expect(try loop.ask(client, "still here") == "still here")
            loop.closeAll(client)
            try loop.run(until: server.close())
            #expect(loop.statistics.handles == 0)
            // Nobody hears how one ends that waits until the loop is shut down, and it does not keep the loop running.
            _ = server.drain(on: .user1, within: .zero)
            #expect(loop.statistics.handles > 0)
            try loop.run()
        }
    }
}
