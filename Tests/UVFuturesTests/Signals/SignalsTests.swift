import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct SignalsTests {
    @Test(
        "signals come to a for loop, and those that come while it is busy wait for it, each once",
        arguments: TestNetwork.allCases)
    func delivers(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop in
                let seen = Future(on: loop) {
                    var seen: [ProcessSignal] = []
                    for try await signal in loop.signals(.user1, .user2) {
                        seen.append(signal)
                        if seen.count == 3 { break }
                        for next in [.user1, .user1, .user2] as [ProcessSignal] where seen.count == 1 {
                            network.send(next, to: loop)
                        }
                        try await loop.sleep(for: .milliseconds(20)).value
                    }
                    return seen
                }
                loop.sleep(for: .zero).whenSuccess { network.send(.user1, to: loop) }
                let got = try loop.run(until: seen)
                #expect(got[0] == .user1)
                #expect(Set(got[1...]) == [.user1, .user2])
                try loop.run()
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("the first of several signals tells which one came", arguments: TestNetwork.allCases)
    func which(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop in
                let first = loop.signals(.user1, .user2).first()
                network.send(.user2, to: loop)
                // A sequence of signals does not keep the loop running.
                let signal = try loop.run(until: first.timeout(after: .seconds(60)))
                #expect(signal == .user2 && loop.statistics.handles == 0)
            }
        }
    }

    @Test("a sequence of signals gives them their former effect back when it ends")
    func ends() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let before = handler(of: SIGUSR2)
                do {
                    let iterator = loop.signals(.user2).makeAsyncIterator()
                    #expect(handler(of: SIGUSR2) != before)
                    #expect(iterator.pull().cancel())
                }
                try loop.run()
                #expect(handler(of: SIGUSR2) == before)
            }
        }
    }

    @Test("a sequence of signals that cannot be had fails", arguments: TestNetwork.allCases)
    func refuses(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let error = loop.failure(of: loop.signals(.user1, ProcessSignal(rawValue: SIGKILL)).first())
            #expect(
                error as? FutureError
                    == .invalidArgument(
                        "signal \(SIGKILL) cannot be waited for: no program can catch SIGKILL or SIGSTOP, "
                            + "and SIGCHLD is for the code that starts processes; give another signal"))
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }
}

private func handler(of number: CInt) -> UInt {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
}
