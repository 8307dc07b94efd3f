import Glibc
import TestSupport
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

    @Test("a loop that ends reports no signal that has not come", arguments: TestNetwork.allCases)
    func notHandled(network: TestNetwork) throws {
        try withLoop(network) { loop in _ = loop.signal(.user2) }
    }

    @Test(
        "signals that cannot be had are refused", arguments: [SIGKILL, SIGSTOP, SIGCHLD, 0, -1, 1_000],
        TestNetwork.allCases)
    func refuses(number: CInt, network: TestNetwork) throws {
        try withLoop(network) { loop in
            #expect(loop.failure(of: loop.signal(ProcessSignal(rawValue: number))) != nil)
        }
    }

    @Test(
        "signals that the kernel raises for a fault are refused: a handler that returns would meet the fault again",
        arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS], TestNetwork.allCases)
    func refusesFaults(number: CInt, network: TestNetwork) async throws {
        let signal = ProcessSignal(rawValue: number)
        try withLoop(network) { loop in
            let sentence =
                "signal \(number) reports a fault in the program itself, and cannot be waited for; leave "
                + "it to the system"
            let refusals = [
                loop.failure(of: loop.signal(signal)), loop.failure(of: loop.signals(.user1, signal).first()),
                loop.failure(of: ProcessSupervisor(on: loop).drain(on: signal)),
            ]
            for refusal in refusals { #expect(refusal as? FutureError == .invalidArgument(sentence)) }
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test(
        "a program that faults ends by the signal of that, though it has asked to wait for it",
        arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP])
    func faults(number: CInt) async {
        // A sanitizer takes the signal, says where it came from, and exits.
        await #expect(processExitsWith: isSanitized ? .failure : .signal(number)) { [number] in
            try withLoop { loop in
                loop.signal(ProcessSignal(rawValue: number)).ignoreFailure()
                // A handler that returns would meet the fault again and again, until the alarm.
                alarm(10)
                if number == SIGSEGV { unsafe UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = 1 }
                raise(number)
                exit(0)
            }
        }
    }
}
