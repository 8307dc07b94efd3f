import CFuturesSystem
import CHeap
import CLibUV
import Foundation
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// What becomes of it when a system call fails, each in a process of its own. `Tests/Checks/failing-calls.py` goes through
/// all calls.
struct FailingCallsTests {
    enum Receiving: String, CaseIterable, Codable { case forEachDatagram, receive, iteration }

    @Test(
        "what waits for datagrams is told that the system cannot receive, and the system is not asked again",
        arguments: Receiving.allCases, [EIO, ENOMEM, EINVAL, ECONNRESET])
    func receiving(way: Receiving, error: CInt) async {
        await #expect(processExitsWith: .success) { [way, error] in
            try withSockets(.system) { loop, server, client in
                // What has come well before changes nothing.
                if way == .receive {
                    client.send("heard", to: server.localAddress)
                    _ = try loop.run(until: server.receive())
                }
                try fail(SYS_recvmmsg, error)
                for _ in 0..<2 {
                    let received: Future<Void> =
                        switch way {
                        case .forEachDatagram: server.forEachDatagram { _, _ in }
                        case .receive: server.receive().map { _ in }
                        case .iteration: Future(on: loop) { for try await _ in server.datagrams {} }
                        }
                    client.send("lost", to: server.localAddress)
                    #expect(
                        loop.failure(of: received) as? SystemError
                            == SystemError(-error, "receive", local: server.localAddress))
                }
                let before = cpuTime()
                try loop.run(for: .milliseconds(200))
                #expect(cpuTime() - before < .milliseconds(50))
                // Those are what the network tells, until there are too many of them.
                #expect(server.statistics.unreachable == (error == ECONNRESET ? 30 : 0))
                #expect(server.isOpen)
            }
        }
    }

    @Test("a write that takes nothing fails", arguments: [SYS_pwrite64, SYS_pwritev2, SYS_write])
    func nothingWritten(call: CInt) async {
        await #expect(processExitsWith: .success) { [call] in
            try withFile { loop, file, path in
                let bytes = Data(count: 40_000)
                // The pool writes to the loop's own descriptors, too, but less.
                try fail(call, 0, size: call == SYS_write ? 40_000 : 0)
                if call == SYS_write {
                    let descriptor = unsafe open(path, O_RDWR)
                    let stream = try DescriptorStream(adopting: descriptor, on: loop)
                    #expect(
                        loop.failure(of: stream.write(bytes)) as? SystemError
                            == SystemError(.inputOutput, "write"))
                } else {
                    let error = loop.failure(
                        of: call == SYS_pwrite64 ? file.write(bytes, at: 0) : file.append(bytes))
                    #expect(
                        "\(error!)".hasSuffix(
                            "write EIO: i/o error (the system took no bytes and did not say why; look at its log)"
                        ))
                }
            }
        }
    }

    @Test(
        "what the disk does not bring fails its copy alone, and a connection that is lost ends",
        arguments: [EIO, EPIPE])
    func copyFails(error: CInt) async {
        await #expect(processExitsWith: .success) { [error] in
            try withSource { loop, file, bytes in
                let (sender, receiver) = try loop.connectedPair()
                try fail(SYS_sendfile, error)
                let failure = loop.failure(of: file.copy(to: sender))
                if error == EIO {
                    #expect(
                        failure.map { "\($0)" }?.hasSuffix(": sendfile EIO: i/o error") == true
                            && failure is FileError)
                    sender.write("on")
                    #expect(try loop.run(until: receiver.read()) == Data("on".utf8))
                } else {
                    let lost = SystemError(
                        .brokenPipe, "write", local: sender.localAddress, peer: sender.peerAddress)
                    #expect(failure as? SystemError == lost)
                    #expect(loop.failure(of: sender.closed) as? SystemError == lost)
                }
                loop.closeAll(sender, receiver)
            }
        }
    }

    @Test("a close that a signal has interrupted is none that has failed", arguments: [EINTR, EIO])
    func interruptedClose(error: CInt) async {
        await #expect(processExitsWith: .success) { [error] in
            let descriptor = SystemDescriptor(dup(STDERR_FILENO))
            try fail(SYS_close, error)
            let failure = complaint { try descriptor.close() }
            #expect(failure == (error == EINTR ? nil : "close EIO: i/o error"))
        }
    }

    @Test("orphans are not adopted without the signal that tells of them, however often that is tried")
    func orphans() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try fail(SYS_rt_sigaction, EPERM)
                for _ in 0..<2 {
                    #expect(throws: SystemError.self) { try ProcessSupervisor(on: loop).adoptOrphans() }
                }
            }
        }
    }

    @Test("a socket whose address the system does not tell is not made, or says so", arguments: [ENOBUFS])
    func addresses(error: CInt) async {
        await #expect(processExitsWith: .success) { [error] in
            try withLoop { loop in
                let path = "/tmp/uvfutures-\(getpid()).\(UInt64.random(in: 0 ... .max))"
                let tcp = try TCPServer.listen(host: "0.0.0.0", port: 0, on: loop) { _ in loop.succeeded() }
                let unix = try UnixServer.listen(path: path, on: loop) { _ in loop.succeeded() }
                tcp.onShortage = { _ in }
                let port = tcp.localAddress.port
                var ends: [CInt] = [-1, -1]
                #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
                let datagrams = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
                try fail(SYS_getsockname, error)
                let none = try SocketAddress(host: "127.0.0.1", port: 9)
                let ways: [(String, () throws -> Future<Void>)] = [
                    (
                        "listen ENOBUFS 127.0.0.1:0",
                        { try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo).close() }
                    ),
                    (
                        "bind ENOBUFS 127.0.0.1:0",
                        { try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop).close() }
                    ),
                    ("connect ENOBUFS \(none)", { try UDPSocket.connect(to: none, on: loop).close() }),
                    (
                        "connect ENOBUFS 127.0.0.1:\(port)",
                        { TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).map { $0.abort() } }
                    ),
                    (
                        "connect ENOBUFS unix:\(path)",
                        { UnixConnection.connect(path: path, on: loop).map { $0.abort() } }
                    ),
                    ("adopt ENOBUFS", { try UnixConnection(adopting: ends[0], on: loop).close() }),
                    ("adopt ENOBUFS", { try TCPConnection(adopting: ends[0], on: loop).close() }),
                    ("adopt ENOBUFS", { try UDPSocket(adopting: datagrams, on: loop).close() }),
                ]
                for (start, make) in ways {
                    let failure = loop.failure(of: loop.succeeded().flatMap { try make() })
                    let text = failure.map { "\($0)" } ?? "none"
                    #expect(text.contains("\(start): no buffer space available"), "\(text)")
                }
                // Who is accepted has connected, and is not kept.
                try loop.runUntil { tcp.statistics.shortages > 0 }
                let (before, shortages) = (openSockets(), tcp.statistics.shortages)
                let client = PlainSocket.connected(to: port)
                try loop.runUntil { tcp.statistics.shortages > shortages }
                #expect(openSockets() == before + 1)
                withExtendedLifetime(client) {}
                _ = try loop.run(until: tcp.shutdown(within: .zero).and(unix.shutdown(within: .zero)))
            }
        }
    }

    @Test(
        "what needs a thread says that there is none to be had",
        .disabled(if: isSanitized, "A sanitizer starts one when the process ends, to look for leaks."))
    func threads() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let resolver = try SystemResolver()
                let descriptors = try (file([1, 2, 3]), file())
                // Of newer and of older systems.
                for call in [SYS_clone3, SYS_clone] { try fail(call, EAGAIN) }
                let stream = try DescriptorStream(adopting: descriptors.0, on: loop)
                let writing = try DescriptorStream(adopting: descriptors.1, on: loop)
                let text = "pthread_create EAGAIN: resource temporarily unavailable"
                let ways: [(String, () throws -> Future<Void>)] = [
                    (text, { RemoteContext.pool.execute(on: loop) {} }),
                    (text, { RemoteContext.files.execute(on: loop) {} }),
                    (text, { try RemoteContext.limited(maxConcurrent: 1, on: .files).execute(on: loop) {} }),
                    (text, { RemoteContext.serial(on: .pool).execute(on: loop) {} }),
                    (text, { stream.read().map { _ in } }),
                    (text, { writing.write("a") }),
                    (
                        text,
                        {
                            try EventLoop.onNewThread().shutdown()
                            return loop.succeeded()
                        }
                    ),
                    (
                        text,
                        {
                            _ = try TCPServerGroup.listen(
                                host: "127.0.0.1", port: 0, loops: 2, owning: { _ in })
                            return loop.succeeded()
                        }
                    ),
                    (
                        "open / below the root: \(text) (no thread could be started for files; raise the limit of threads "
                            + "(TasksMax=, ulimit -u))", { Directory.open("/", on: loop).map { _ in } }
                    ),
                    (
                        "resolve EAGAIN localhost: resource temporarily unavailable",
                        { resolver.resolve("localhost", port: 1, on: loop).map { _ in } }
                    ),
                ]
                for (text, start) in ways {
                    let failure = loop.failure(of: loop.succeeded().flatMap { try start() })
                    let said = failure.map { "\($0)" } ?? "none"
                    #expect(said == text, "\(said)")
                }
            }
        }
    }

    @Test(
        "a loop for which libuv would end the process is not made",
        arguments: [
            (SYS_pipe2, ENFILE), (SYS_epoll_create1, EMFILE), (SYS_eventfd2, ENFILE), (SYS_epoll_ctl, ENOMEM),
            (SYS_epoll_ctl, ENOSPC),
        ])
    func loops(call: CInt, error: CInt) async {
        await #expect(processExitsWith: .success) { [call, error] in
            let status = inChild {
                try fail(call, error)
                let free = (0..<64).count { fcntl($0, F_GETFD) < 0 }
                for _ in 0..<3 {
                    do {
                        try EventLoop().shutdown()
                        return 1
                    } catch let failure as SystemError {
                        if failure != SystemError(-error, "loop") { return 2 }
                    }
                }
                return (0..<64).count { fcntl($0, F_GETFD) < 0 } == free ? 0 : 3
            }
            #expect(status == 0)
        }
    }

    @Test(
        "without /proc, permissions and unnamed files are as with it, or the error says that it is missing",
        .asRoot)
    func withoutProc() async {
        await #expect(processExitsWith: .success) {
            #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
            #expect(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
            try withDirectory { loop, directory, path in
                #expect(unsafe mount("tmpfs", "/proc", "tmpfs", 0, nil) == 0)
                try put("a", "\(path)/a")
                let unnamed = try loop.run(until: directory.makeTemporaryFile())
                try loop.run(until: directory.setPermissions(of: "a", to: 0o604))
                #expect(try loop.run(until: directory.information(of: "a")).permissions == 0o604)
                try loop.run(until: directory.link(unnamed, as: "b"))
                try loop.run(
                    until: UnixListener(
                        path: "\(path)/c", options: ListenOptions(permissions: 0o666), on: loop
                    ).close())

                // As on older systems, and as without the privilege.
                try fail(452, ENOSYS)
                try fail(SYS_linkat, ENOENT)
                let advice =
                    "ENOSYS: function not implemented (/proc is not mounted, and this call needs it; mount "
                    + "it)"
                let chmod = loop.failure(of: directory.setPermissions(of: "a", to: 0o600))
                #expect("\(chmod!)" == "setPermissions a below \(path): chmod \(advice)")
                #expect(
                    complaint { try ProcessSupervisor(on: loop).adoptOrphans() }?
                        .hasPrefix("list processes ENOENT") == true)
                let link = loop.failure(of: directory.link(unnamed, as: "d"))
                #expect("\(link!)" == "link d below \(path): link \(advice)")
                #expect(throws: SystemError.self) {
                    try UnixListener(path: "\(path)/e", options: ListenOptions(permissions: 0o666), on: loop)
                }
                #expect(unsafe umount2("/proc", CInt(MNT_DETACH)) == 0)
            }
        }
    }
}

/// Makes a system call fail from now on, in this process.
func fail(_ call: CInt, _ error: CInt, size: UInt32 = 0) throws {
    try #require(make_call_fail(call, error, size) == 0)
}
