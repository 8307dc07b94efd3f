import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// SIGPIPE, of which nothing dies.
struct BrokenPipesTests {
    @Test(
        "writing to a peer that has gone is an error, though SIGPIPE has its default effect back",
        arguments: Carrier.allCases, Turner.allCases)
    func defaultEffect(carrier: Carrier, turner: Turner) async {
        await #expect(processExitsWith: .success) { [carrier, turner] in
            // It has the process ignore the signal, so that the next one finds it ignored.
            try EventLoop().shutdown()
            let loop = try EventLoop()
            _ = signal(SIGPIPE, SIG_DFL)
            try turner.with(loop) { loop in
                try carrier.breakPipes(on: loop)
                loop.shutdown()
            }
        }
    }

    @Test("who watches SIGPIPE gets it, and it is ignored as before afterwards")
    func watched() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                // This one is forgotten.
                try Carrier.unix.breakPipes(on: loop)
                let waiting = loop.signal(ProcessSignal(rawValue: SIGPIPE))
                try loop.run(for: .milliseconds(1))
                #expect(!waiting.isCompleted)
                loop.execute { kill(getpid(), SIGPIPE) }
                _ = loop.sleep(for: .seconds(10))
                try loop.run(until: waiting)
                try Carrier.unix.breakPipes(on: loop)
            }
        }
    }

    @Test("a handler of SIGPIPE is called as ever")
    func handler() async {
        await #expect(processExitsWith: .exitCode(7)) {
            _ = signal(SIGPIPE) { _ in _exit(7) }
            try withLoop { try Carrier.unix.breakPipes(on: $0) }
        }
    }

    @Test("a host's thread does not block SIGPIPE")
    func host() async {
        await #expect(processExitsWith: .success) {
            try withHost { host, loop in
                try host.run(until: loop.sleep(for: .milliseconds(1)))
                var mask = sigset_t()
                unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                #expect(unsafe sigismember(&mask, SIGPIPE) == 0)
            }
        }
    }

    /// Who turns the loop.
    enum Turner: CaseIterable, Codable {
        case maker, otherThread, bridge

        func with(_ loop: EventLoop, _ body: @escaping @Sendable (EventLoop) throws -> Void) throws {
            guard self != .maker else { return try body(loop) }
            try onThread {
                // It has inherited the mask of the one that made the loop.
                unblock(SIGPIPE)
                if self == .bridge { try loop.turn() } else { try loop.run() }
                try body(loop)
            }
        }
    }

    /// What is written to.
    enum Carrier: CaseIterable, Codable {
        case tcp, unix, pipe

        /// Writes until that fails, once at once and once by way of the queue.
        func breakPipes(on loop: EventLoop) throws {
            for isQueued in [false, true] {
                let (stream, peer) = try open(on: loop)
                if isQueued { stream.write(Data(count: 4 << 20)).ignoreFailure() }
                close(peer)
                for _ in 0..<3 { stream.write("more").ignoreFailure() }
                #expect(loop.failure(of: stream.write("last")) != nil)
                stream.abort()
            }
        }

        private func open(on loop: EventLoop) throws -> (ByteStream, CInt) {
            var ends: [CInt] = [0, 0]
            switch self {
            case .tcp:
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let client = PlainSocket.connected(to: listener.localAddress.port)
                let connection = try loop.run(until: listener.accept())
                listener.close()
                return (connection, dup(client.descriptor))
            case .unix: unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
            case .pipe: unsafe Glibc.pipe(&ends)
            }
            return (try DescriptorStream(adopting: ends[1], on: loop), ends[0])
        }
    }

    @Test("a loop ignores SIGPIPE, unless the process handles it")
    func brokenPipes() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            raise(SIGPIPE)
            loop.shutdown()
        }
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGPIPE) { _ in _exit(7) }
            let loop = try EventLoop()
            raise(SIGPIPE)
            loop.shutdown()
        }
    }
}
