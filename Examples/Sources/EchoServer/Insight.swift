import CMalloc
import ExampleSupport
import Glibc
import ServerSupport
import TLSStreams

/// Prints what the server is busy with, and what waits, whenever SIGUSR1 or SIGQUIT comes.
final class Insight {
    private let scope: FutureScope
    private let server: StreamServer
    private var lastTime = 0
    private var longestTurn = 0
    /// A turn that reports takes long, and is not what anybody wants to know.
    private var isReporting = false

    init(of server: StreamServer, in scope: FutureScope) {
        self.scope = scope
        self.server = server
    }

    func start(measuringTurns: Bool) {
        if measuringTurns { measureTurns() }
        let signals = loop.signals(.user1, .quit)
        scope.run(onDrain: .cancelLast) { for try await _ in signals { self.report() } }
    }

    private var loop: EventLoop { scope.loop }

    private func report() {
        let heap = mallinfo2()
        say("heap: \(heap.uordblks + heap.hblkhd) bytes in use")
        if lastTime > 0 { say("longest turn: \(longestTurn / 1000) microseconds of CPU time") }
        say("server: \(server.statistics)")
        if let handshakes = server.handshakes { say(handshakes.line) }
        say(loop.dump())
        longestTurn = 0
        isReporting = true
    }

    /// From the end of one turn to that of the next: libuv's share is counted too.
    private func measureTurns() {
        lastTime = cpuTime()
        loop.observe { [self] event in
            guard case .turnEnded = event else { return }
            let time = cpuTime()
            if !isReporting { longestTurn = max(longestTurn, time - lastTime) }
            (isReporting, lastTime) = (false, time)
        }
    }

    private func cpuTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

extension TLSHandshakeStatistics {
    /// The numbers in one line.
    var line: String {
        let failures = failed.values.reduce(otherwiseFailed, +)
        return
            "handshakes: \(completed) completed, \(resumed) of them resumed; \(failures) failed; \(underWay) under way"
    }
}
