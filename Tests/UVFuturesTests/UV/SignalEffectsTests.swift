import CFuturesSystem
import CLibUV
import Dispatch
import Glibc
import TestSupport
import Testing
import UVFutures

struct SignalEffectsTests {
    @Test("cancelling gives the signal its former effect back")
    func cancels() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let waiting = loop.signal(.terminate)
                #expect(isHandled(SIGTERM))
                #expect(waiting.cancel())
                try loop.run()
                #expect(!isHandled(SIGTERM))
            }
        }
    }

    @Test("a signal that was ignored before is ignored again", arguments: Ending.allCases)
    func ignoresAgain(ending: Ending) async {
        await #expect(processExitsWith: .success) { [ending] in
            _ = signal(SIGTERM, SIG_IGN)
            try withLoop { loop in
                for _ in 0..<2 {
                    try ending.watch(SIGTERM, on: loop)
                    #expect(handler(of: SIGTERM) == 1)
                    kill(getpid(), SIGTERM)
                }
            }
        }
    }

    @Test(
        "a signal with a handler has it again, and none is left of one that had none",
        arguments: Ending.allCases)
    func handlesAgain(ending: Ending) async {
        await #expect(processExitsWith: .exitCode(7)) { [ending] in
            _ = signal(SIGTERM) { _ in _exit(7) }
            try withLoop { loop in
                try ending.watch(SIGTERM, on: loop)
                try ending.watch(SIGUSR1, on: loop)
                #expect(handler(of: SIGUSR1) == 0)
                kill(getpid(), SIGTERM)
                try loop.run(for: .seconds(10))
            }
        }
    }

    @Test("a signal that two wait for stays caught until neither does, and then is ignored as before")
    func two() async {
        await #expect(processExitsWith: .success) {
            _ = signal(SIGTERM, SIG_IGN)
            try withLoop { first in
                try withLoop { second in
                    let (one, other) = (first.signal(.terminate), second.signal(.terminate))
                    one.cancel()
                    #expect(handler(of: SIGTERM) > 1)
                    kill(getpid(), SIGTERM)
                    _ = second.sleep(for: .seconds(10))
                    try second.run(until: other)
                    #expect(handler(of: SIGTERM) == 1)
                }
            }
        }
    }

    @Test(
        "the former effect comes back without a moment of the default one, whichever thread takes the signals",
        arguments: Ending.allCases, [SIGUSR1, SIGHUP])
    func noGap(ending: Ending, number: CInt) async {
        await #expect(processExitsWith: .success) { [ending, number] in
            for isIgnored in [true, false] {
                if isIgnored { _ = signal(number, SIG_IGN) } else { _ = signal(number) { _ in } }
                let before = handler(of: number)
                let (isOver, threads) = (Counter(), DispatchGroup())
                startThread(of: threads) { while isOver.value == 0 { kill(getpid(), number) } }
                try withLoop { loop in
                    try withLoop { other in
                        for round in 0..<2_000 / slowShare {
                            let second = round.isMultiple(of: 2) ? other.signal(.init(rawValue: number)) : nil
                            try ending.watch(number, on: loop)
                            second?.cancel()
                            precondition(handler(of: number) == before)
                        }
                    }
                }
                isOver.add(1)
                threads.wait()
            }
        }
    }

    @Test("a signal that came to one loop is caught when it comes again before another loop has heard of it")
    func late() async {
        await #expect(processExitsWith: .success) {
            try withLoop { late in
                try withLoop { loop in
                    let first = late.signal(.user1)
                    for _ in 0..<3 {
                        let next = loop.signal(.user1)
                        kill(getpid(), SIGUSR1)
                        _ = loop.sleep(for: .seconds(10))
                        try loop.run(until: next)
                    }
                    _ = late.sleep(for: .seconds(10))
                    try late.run(until: first)
                    #expect(!isHandled(SIGUSR1))
                }
            }
        }
    }

    @Test("what a host waits for stays caught when nobody else does")
    func hostsOwn() async {
        await #expect(processExitsWith: .success) {
            try withHost { host, loop in
                let signal = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
                #expect(unsafe uv_signal_init(host.loop, signal) == 0)
                #expect(unsafe uv_signal_start(signal, { _, _ in }, SIGTERM) == 0)
                let waiting = loop.signal(.terminate)
                waiting.cancel()
                #expect(handler(of: SIGTERM) > 1)
                let again = loop.signal(.terminate)
                unsafe uv_close(
                    UnsafeMutableRawPointer(signal).assumingMemoryBound(to: uv_handle_t.self), nil)
                again.cancel()
                #expect(handler(of: SIGTERM) == 0)
                try host.run(until: loop.sleep(for: .milliseconds(1)))
                unsafe signal.deallocate()
            }
        }
    }

    @Test(
        "beside a host, or without descriptors, a signal has its former effect back",
        arguments: [false, true], Ending.allCases)
    func withoutKeeper(hasHost: Bool, ending: Ending) async {
        await #expect(processExitsWith: .success) { [hasHost, ending] in
            // Dispatch blocks the signals on its threads.
            unblock(SIGTERM)
            _ = signal(SIGTERM, SIG_IGN)
            try withLoop { loop in
                func watch() throws {
                    for _ in 0..<2 {
                        try ending.watch(SIGTERM, on: loop)
                        #expect(handler(of: SIGTERM) == 1)
                        var mask = sigset_t()
                        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                        #expect(unsafe sigismember(&mask, SIGTERM) == 0)
                    }
                }
                if hasHost {
                    try withHost { _, _ in try watch() }
                } else {
                    try loop.run(for: .milliseconds(1))
                    try withFreeDescriptors(0, watch)
                }
            }
        }
    }

    @Test("a signal to the loop's thread never has the default effect, beside a host either")
    func noGapBesideHost() async {
        await #expect(processExitsWith: .success) {
            _ = signal(SIGUSR1, SIG_IGN)
            unblock(SIGUSR1)
            let (isOver, threads) = (Counter(), DispatchGroup())
            let own = pthread_self()
            startThread(of: threads) { while isOver.value == 0 { pthread_kill(own, SIGUSR1) } }
            try withHost { _, _ in
                try withLoop { loop in
                    for _ in 0..<2_000 / slowShare { loop.signal(.user1).cancel() }
                }
            }
            isOver.add(1)
            threads.wait()
        }
    }

    @Test("a host that comes to wait for a signal gets it, though the signal was ignored and watched before")
    func hostLater() async {
        await #expect(processExitsWith: .success) {
            _ = signal(SIGTERM, SIG_IGN)
            try withHost { host, loop in
                loop.signal(.terminate).cancel()
                #expect(handler(of: SIGTERM) == 1)
                let signal = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
                #expect(unsafe uv_signal_init(host.loop, signal) == 0)
                #expect(unsafe uv_signal_start(signal, { _, _ in }, SIGTERM) == 0)
                #expect(handler(of: SIGTERM) > 1)
                unsafe uv_close(
                    UnsafeMutableRawPointer(signal).assumingMemoryBound(to: uv_handle_t.self), nil)
                try host.run(until: loop.sleep(for: .milliseconds(1)))
                unsafe signal.deallocate()
            }
        }
    }

    @Test(
        "a signal that was ignored once and now has the default effect is caught", arguments: Ending.allCases)
    func defaultLater(ending: Ending) async {
        await #expect(processExitsWith: .success) { [ending] in
            _ = signal(SIGTERM, SIG_IGN)
            try withLoop { loop in
                try ending.watch(SIGTERM, on: loop)
                _ = signal(SIGTERM, SIG_DFL)
                try ending.watch(SIGTERM, on: loop)
                #expect(handler(of: SIGTERM) == 0)
            }
        }
    }

    @Test("SIGPIPE has the effect back that a host has given it")
    func hostsBrokenPipe() async {
        await #expect(processExitsWith: .success) {
            _ = signal(SIGPIPE, SIG_DFL)
            try withHost { _, loop in
                loop.signal(ProcessSignal(rawValue: SIGPIPE)).cancel()
                #expect(handler(of: SIGPIPE) == 0)
            }
        }
    }

    /// How a wait for a signal comes to its end.
    enum Ending: CaseIterable, Codable {
        case cancelled, delivered, iterated

        func watch(_ number: CInt, on loop: EventLoop) throws {
            let signal = ProcessSignal(rawValue: number)
            switch self {
            case .cancelled: loop.signal(signal).cancel()
            case .delivered:
                let waiting = loop.signal(signal)
                kill(getpid(), number)
                _ = loop.sleep(for: .seconds(10))
                try loop.run(until: waiting)
            case .iterated:
                let came = Future(on: loop) { for try await _ in loop.signals(signal) { break } }
                loop.execute { kill(getpid(), number) }
                try loop.run(until: came)
            }
        }
    }
}

private func isHandled(_ number: CInt) -> Bool { handler(of: number) != 0 }

/// The address of what is called; 0 for the default effect, 1 if it is ignored.
private func handler(of number: CInt) -> UInt {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
}
