import Foundation
import Glibc
import Testing
import UVFutures

struct ForkTests {
    private static let sentence = """
        An event loop was used in a process that came out of fork() after the loop was made. Fork first and make the \
        loop then, or let the child call exec() and nothing of the loop.
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
                _ = try loop.run(until: server.shutdown(grace: .zero))
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(Self.sentence))
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
