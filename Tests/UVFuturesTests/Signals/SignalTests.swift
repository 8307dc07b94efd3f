import Glibc
import Testing
import UVFutures

struct SignalTests {
    @Test("a signal completes all futures that wait for it", arguments: TestNetwork.allCases)
    func delivers(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop in
                let waiting = [loop.signal(.user1), loop.signal(.user1)]
                let other = loop.signal(.user2)
                _ = loop.submit { network.send(.user1, to: loop) }
                let idle = loop.sleep(for: .seconds(10))
                for future in waiting { try loop.run(until: future) }
                #expect(!other.isCompleted)
                idle.cancel()
                #expect(other.cancel())
                try loop.run()
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("waiting for a signal does not keep the loop alive", arguments: TestNetwork.allCases)
    func keepsNothingAlive(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let waiting = loop.signal(.user2)
            try loop.run()
            #expect(loop.failure(of: waiting) as? FutureError == .stalled)
            #expect(waiting.cancel())
        }
    }

    @Test(
        "signals that cannot be had are refused", arguments: [SIGKILL, SIGSTOP, SIGCHLD, 0, -1, 1_000],
        TestNetwork.allCases)
    func refuses(number: CInt, network: TestNetwork) throws {
        try withLoop(network) { loop in
            #expect(loop.failure(of: loop.signal(ProcessSignal(rawValue: number))) != nil)
        }
    }
}
