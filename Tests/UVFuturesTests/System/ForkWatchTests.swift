import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Testing
import UVFutures

struct ForkWatchTests {
    private static let sentence = """
        An event loop was used in a process that came out of fork() after the loop was made. Fork first and make the \
        loop then, or let the child call exec() without using the loop.
        """

    @Test(
        "a loop that is used in a child of its process ends that with a sentence, and the parent goes on",
        arguments: ["run", "return to it", "shut down", "close a socket", "make a socket"])
    func traps(way: String) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [way] in
            try withLoop { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
                var child: pid_t = 0
                let inCallback = loop.submit { if way == "return to it" { child = forked() } }
                if way != "return to it" {
                    try loop.run(until: inCallback)
                    child = forked()
                    if child == 0 { use(loop, server, way) }
                }
                try loop.run(until: inCallback.map { _ in })
                if child == 0 { try loop.run(for: .milliseconds(1)) }
                if child == 0 { _exit(0) }
                var status: CInt = 0
                #expect(unsafe waitpid(child, &status, 0) == child)
                // By a signal: it was trapped.
                #expect(status & 0x7f != 0)

                let client = try loop.connect(to: server.localAddress)
                try loop.runUntil { server.activeConnections == 1 }
                client.abort()
                _ = try loop.run(until: server.shutdown(within: .zero))
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(Self.sentence))
    }

    @Test("each verb ends a child of the process before it touches anything", arguments: [false, true])
    func verbs(isAttached: Bool) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [isAttached] in
            guard isAttached else {
                return try withLoop { loop in try tryVerbs(on: loop) { try loop.run(until: $0) } }
            }
            try withHost { host, loop in try tryVerbs(on: loop) { try host.run(until: $0) } }
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.count { $0.contains(Self.sentence) } == Belongings.verbs.count, "\(lines)")
    }

    @Test("what would run later in the turn that has forked, and what comes to the loop, is the parent's")
    func restOfRound() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let pairs = [try loop.connectedPair(), try loop.connectedPair()]
                var (child, status): (pid_t, CInt) = (-1, 0)
                let both = loop.makePromise(of: Void.self)
                var missing = 10
                // Spans, after which nobody's future is touched in that turn.
                let reading = pairs.map { end, _ in
                    end.forEachSpan { span in
                        missing -= span.byteCount
                        if missing == 0 { both.succeed() }
                        guard child < 0 else { return }
                        child = forked()
                        // The child is first to go on, and takes nothing.
                        if child > 0 { #expect(unsafe waitpid(child, &status, 0) == child) }
                    }
                }
                // Both come in one round.
                for (_, other) in pairs { other.write("hello") }
                try loop.run(until: both.future.timeout(after: .seconds(10)))
                for read in reading { read.cancel() }
                #expect(child > 0 && status & 0x7f != 0)
                for (end, other) in pairs { loop.closeAll(end, other) }
            }
        }
    }

    @Test("a child that exits or executes a program is left in peace, and the parent's terminal too")
    func peace() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try withTerminal { _, program in
                    let terminal = try DescriptorStream(adopting: dup(program), on: loop)
                    try terminal.setRawMode(true)
                    dup2(program, STDIN_FILENO)
                    let input = try loop.standardInput()
                    let (first, second) = try loop.connectedPair()
                    let ways: [() -> Void] = [
                        { exit(0) },
                        {
                            let arguments = unsafe [strdup("true"), nil]
                            unsafe execv("/bin/true", arguments)
                        },
                    ]
                    for way in ways {
                        let child = forked()
                        if child == 0 { way() }
                        var status: CInt = 0
                        #expect(unsafe waitpid(child, &status, 0) == child)
                        // Not by a signal. A leak detector has its own status.
                        #expect(status & 0x7f == 0)
                        var mode = termios()
                        unsafe tcgetattr(program, &mode)
                        #expect(mode.c_lflag & tcflag_t(ICANON) == 0)
                    }
                    first.write("hello")
                    #expect(try loop.run(until: second.read()) == Data("hello".utf8))
                    loop.closeAll(first, second)
                    for stream in [terminal, input] { try loop.run(until: stream.close()) }
                    close(program)
                }
            }
        }
    }

    @Test("a loop that is made after the fork is used as ever")
    func after() async {
        await #expect(processExitsWith: .success) {
            try withLoop { try $0.run(for: .milliseconds(1)) }
            let child = forked()
            if child == 0 {
                let passes = (try? withLoop { try $0.run(for: .milliseconds(1)) }) != nil
                _exit(passes ? 0 : 1)
            }
            var status: CInt = 0
            #expect(unsafe waitpid(child, &status, 0) == child)
            #expect(status == 0)
        }
    }
}

/// Has a child do each, and proves that the peers have seen nothing of it.
private func tryVerbs(on loop: EventLoop, _ run: (Future<Data>) throws -> Data) throws {
    let belongings = try Belongings(on: loop, run)
    for (verb, act) in Belongings.verbs {
        let child = forked()
        if child == 0 {
            try? act(belongings)
            _exit(0)
        }
        var status: CInt = 0
        #expect(unsafe waitpid(child, &status, 0) == child)
        #expect(status & 0x7f != 0, "\(verb) ended with \(status)")
    }
    try belongings.expectIntact(run)
    belongings.close()
}

/// One of each of what a loop has.
private final class Belongings {
    let loop: EventLoop
    let thread: LoopThread
    let server: TCPServer
    let listener: TCPListener
    let (client, accepted): (TCPConnection, TCPConnection)
    let (reading, writing): (DescriptorStream, DescriptorStream)
    let file: DescriptorStream
    let datagrams: UDPSocket
    let watched: PlainSocket
    let watch: DescriptorWatch
    let promise: Promise<Int>
    let timer: ScheduledTask<Void>
    let signal: Future<Void>
    let source: CancellationSource

    init(on loop: EventLoop, _ run: (Future<Data>) throws -> Data) throws {
        self.loop = loop
        thread = try EventLoop.onNewThread()
        server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
        listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
        var ends: (TCPConnection, TCPConnection)?
        let port = listener.localAddress.port
        let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).and(listener.accept())
        _ = try run(
            connecting.map {
                ends = $0
                return Data()
            })
        (client, accepted) = ends!
        (reading, writing) = try loop.makePipe()
        file = try DescriptorStream(adopting: unsafe open("/dev/zero", O_RDWR | O_CLOEXEC), on: loop)
        datagrams = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        watched = PlainSocket.bound()
        watch = try loop.watch(descriptor: watched.descriptor)
        promise = loop.makePromise()
        timer = loop.schedule(after: .seconds(100)) {}
        timer.future.ignoreFailure()
        promise.future.ignoreFailure()
        signal = loop.signal(.user1)
        source = CancellationSource(on: loop)
    }

    static let verbs: [(String, @Sendable (Belongings) throws -> Void)] = [
        ("abort", { $0.client.abort() }),
        ("close", { $0.client.close() }),
        ("close at once", { $0.client.close(within: .zero) }),
        ("write", { $0.client.write("stray") }),
        ("write buffers", { $0.client.write([Data("stray".utf8)]) }),
        ("shutdownWrite", { $0.client.shutdownWrite() }),
        ("read", { $0.client.read().ignoreFailure() }),
        ("readToEnd", { $0.client.readToEnd().ignoreFailure() }),
        ("readLine", { $0.client.readLine().ignoreFailure() }),
        ("forEachChunk", { $0.client.forEachChunk { _ in }.ignoreFailure() }),
        ("pipe", { $0.client.pipe(to: $0.accepted).ignoreFailure() }),
        ("closed", { $0.client.closed.ignoreFailure() }),
        ("release", { _ = try $0.client.release() }),
        ("noDelay", { $0.client.noDelay = false }),
        ("setKeepAlive", { try $0.client.setKeepAlive(after: .seconds(1)) }),
        ("setUserTimeout", { try $0.client.setUserTimeout(.seconds(1)) }),
        ("start a process", { _ = try ChildProcess.start(.init("true"), on: $0.loop) }),
        ("write into a pipe", { $0.writing.write("stray") }),
        ("end a pipe", { $0.writing.shutdownWrite() }),
        ("close a pipe", { $0.writing.close() }),
        ("read a pipe", { $0.reading.read().ignoreFailure() }),
        ("write a file", { $0.file.write("stray") }),
        ("close a file", { $0.file.close() }),
        ("make a pipe", { _ = try $0.loop.makePipe() }),
        ("standard input", { _ = try $0.loop.standardInput() }),
        ("adopt", { _ = try TCPConnection(adopting: 0, on: $0.loop) }),
        ("adopt a stream", { _ = try DescriptorStream(adopting: dup(0), on: $0.loop) }),
        ("watch", { _ = try $0.loop.watch(descriptor: $0.watched.descriptor) }),
        ("watch files", { FileWatch.watch(directory: "/", on: $0.loop).ignoreFailure() }),
        ("wait for a watch", { $0.watch.readable.ignoreFailure() }),
        ("call for a watch", { $0.watch.onEvents(.readable) { _ in } }),
        ("close a watch", { $0.watch.close() }),
        ("send a datagram", { $0.datagrams.send("stray", to: $0.datagrams.localAddress) }),
        ("receive a datagram", { $0.datagrams.receive().ignoreFailure() }),
        ("receive all datagrams", { $0.datagrams.forEachDatagram { _, _ in }.ignoreFailure() }),
        ("set an option of datagrams", { try $0.datagrams.setBroadcast(true) }),
        ("release datagrams", { _ = try $0.datagrams.release() }),
        ("close datagrams", { $0.datagrams.close() }),
        ("bind datagrams", { _ = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: $0.loop) }),
        ("accept", { $0.listener.accept().ignoreFailure() }),
        ("close a listener", { $0.listener.close() }),
        ("release a listener", { _ = try $0.listener.release() }),
        ("listen", { _ = try TCPListener(host: "127.0.0.1", port: 0, on: $0.loop) }),
        ("serve", { try $0.server.listen(host: "127.0.0.1", port: 0) }),
        (
            "connect",
            {
                TCPConnection.connect(host: "127.0.0.1", port: $0.server.localAddress.port, on: $0.loop)
                    .ignoreFailure()
            }
        ),
        ("connect to a path", { UnixConnection.connect(path: "@nobody", on: $0.loop).ignoreFailure() }),
        ("close a server", { $0.server.close() }),
        ("shut down a server", { $0.server.shutdown(within: .zero).ignoreFailure() }),
        ("drain", { $0.server.drain(within: .zero).ignoreFailure() }),
        ("drain at a signal", { $0.server.drain(on: .user2, within: .zero).ignoreFailure() }),
        ("signal", { $0.loop.signal(.user2).ignoreFailure() }),
        ("cancel a wait", { $0.signal.cancel() }),
        ("resolve", { $0.loop.addresses(of: "localhost", port: 1).ignoreFailure() }),
        ("work in the pool", { RemoteContext.pool.execute(on: $0.loop) { 1 }.ignoreFailure() }),
        ("sleep", { $0.loop.sleep(for: .zero).ignoreFailure() }),
        ("cancel a timer", { $0.timer.cancel() }),
        ("succeed", { $0.promise.succeed(1) }),
        ("map", { $0.promise.future.map { $0 }.ignoreFailure() }),
        ("a body", { Future(on: $0.loop) {}.ignoreFailure() }),
        ("cancel a token", { $0.source.cancel() }),
        ("submit", { $0.loop.submit {}.ignoreFailure() }),
        ("later", { $0.loop.later {} }),
        ("execute", { $0.loop.execute {} }),
        ("statistics", { _ = $0.loop.statistics }),
        ("end another thread", { $0.thread.shutdown() }),
        ("execute on another thread", { $0.thread.loop.execute {} }),
        (
            "wait for another thread",
            { belongings in
                let loop = belongings.thread.loop
                try loop.wait { loop.succeeded(()) }
            }
        ),
    ]

    /// The bytes of the parent go both ways, and no others.
    func expectIntact(_ run: (Future<Data>) throws -> Data) throws {
        client.write("hello")
        writing.write("hello")
        #expect(try run(accepted.read()) == Data("hello".utf8))
        #expect(try run(reading.read()) == Data("hello".utf8))
        accepted.write("world")
        #expect(try run(client.read()) == Data("world".utf8))
        client.shutdownWrite()
        writing.shutdownWrite()
        #expect(try run(accepted.read()).isEmpty)
        #expect(try run(reading.read()).isEmpty)
        #expect(server.activeConnections == 0)
    }

    func close() {
        for stream in [client, accepted, reading, writing, file] { stream.abort() }
        watch.close()
        datagrams.close()
        listener.close()
        server.close()
        signal.cancel()
        timer.cancel()
        thread.shutdown()
        thread.join()
    }
}

private func use(_ loop: EventLoop, _ server: TCPServer, _ way: String) {
    switch way {
    case "run": try? loop.run()
    case "shut down": loop.shutdown()
    case "close a socket": server.close()
    default: _ = try? TCPListener(host: "127.0.0.1", port: 0, on: loop)
    }
    _exit(0)
}

/// `fork`, which Swift does not offer. The child ends without looking for a backtrace, and in any case.
func forked() -> pid_t {
    let symbol = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork")
    let child = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    if child == 0 {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] { _ = signal(number, SIG_DFL) }
        alarm(60)
    }
    return child
}

/// The status of a child of this process that ends with what `body` returns.
func inChild(_ body: () throws -> CInt) -> CInt {
    let child = forked()
    if child == 0 { _exit((try? body()) ?? 4) }
    var status: CInt = 0
    _ = unsafe waitpid(child, &status, 0)
    return status
}

func unblock(_ signal: CInt) {
    var set = sigset_t()
    unsafe sigaddset(&set, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
}
