import CFuturesSystem
import CHeap
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// Of calls that fail when a loop has been at work.
extension FailingCallsTests {
    // libuv itself repeats a write that was interrupted.
    @Test(
        "a file that is busy is asked again, until it is closed",
        arguments: zip([EAGAIN, EINTR, EAGAIN], [false, false, true]))
    func busyFile(error: CInt, writes: Bool) async {
        await #expect(processExitsWith: .success) { [error, writes] in
            try withLoop(ignoringUnhandled: true) { loop in
                let size = writes ? 40_000 : 32 * 1024
                let stream = try DescriptorStream(adopting: file([1, 2, 3]), on: loop)
                // The threads are there.
                try loop.run(until: RemoteContext.pool.execute(on: loop) {})
                try fail(writes ? SYS_write : SYS_read, error, size: UInt32(size))
                let pending = writes ? stream.write(Data(count: size)) : stream.read().map { _ in }
                for _ in 0..<20 {
                    try loop.run(until: RemoteContext.pool.execute(on: loop) {})
                    #expect(!pending.isCompleted)
                    #expect(try loop.turn())
                }
                stream.abort()
                #expect(loop.failure(of: pending) as? StreamError == .connectionClosed)
                _ = loop.outcome(of: stream.closed)
            }
        }
    }

    @Test(
        "once the threads of the pool are there, no other needs to be had",
        // A sanitizer looks for leaks in a thread of its own.
        .enabled(if: !isSanitized))
    func poolThreads() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try loop.run(until: RemoteContext.pool.execute(on: loop) {})
                for call in [SYS_clone3, SYS_clone] { try fail(call, EAGAIN) }
                try loop.run(until: RemoteContext.pool.execute(on: loop) {})
            }
        }
    }

    @Test("a program that nobody could watch is ended, and leaves nothing")
    func unwatchedProgram() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try loop.run(for: .milliseconds(1))
                let before = descriptorsInUse()
                try fail(SYS_epoll_ctl, ENOMEM)
                let error = complaint { _ = try ChildProcess.start(.init("sleep", "1000"), on: loop) }
                #expect(
                    error?.hasPrefix("cannot start sleep: the system cannot make a process: ENOMEM") == true,
                    "\(error ?? "")")
                #expect(eventually(hasNoChild))
                expectNoMore(than: before)
            }
        }
    }

    @Test(
        "each step in which the system keeps a program from being started has its sentence",
        arguments: [
            (SYS_setsid, EPERM, "it cannot get a session of its own"),
            (SYS_setpgid, EPERM, "it cannot get a process group of its own"),
            (SYS_setgroups, EPERM, "its supplementary groups cannot be set"),
            (SYS_close_range, ENOSYS, "it cannot be kept from inheriting descriptors"),
            (SYS_ioctl, ENOTTY, "a terminal for it cannot be opened"),
        ])
    func steps(call: CInt, error: CInt, text: String) async {
        await #expect(processExitsWith: .success) { [call, error, text] in
            try withLoop { loop in
                var configuration = ChildProcess.Configuration("true")
                switch call {
                case SYS_setsid: configuration.group = .newSession
                case SYS_setpgid: configuration.group = .newGroup
                case SYS_setgroups: configuration.user = .init(id: 65_534, group: 65_533)
                case SYS_ioctl: configuration.terminal = .init(columns: 80, rows: 24)
                default: break
                }
                let before = descriptorsInUse()
                try fail(call, error)
                let refusal = complaint { _ = try ChildProcess.start(configuration, on: loop) }
                #expect(refusal?.hasPrefix("cannot start true: \(text): E") == true, "\(refusal ?? "")")
                #expect(eventually(hasNoChild))
                expectNoMore(than: before)
            }
        }
    }

    @Test("what the system refuses to do to a child is an error, and the child runs on")
    func children() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                var configuration = ChildProcess.Configuration("cat")
                configuration.terminal = .init(columns: 80, rows: 24)
                let child = try ChildProcess.start(configuration, on: loop)
                for call in [SYS_pidfd_send_signal, SYS_ioctl] { try fail(call, EPERM) }
                let refused = "EPERM: operation not permitted"
                #expect(complaint { try child.send(.terminate) } == "signal \(refused)")
                #expect(
                    complaint { try child.setWindowSize(.init(columns: 1, rows: 1)) }
                        == "set window size \(refused)")
                #expect(!child.exit.isCompleted)
                let terminal = try #require(child.terminal)
                try loop.run(until: terminal.shutdownWrite())
                #expect(try loop.run(until: child.exit) == .code(0))
                _ = loop.outcome(of: terminal.abort())
            }
        }
    }

    @Test("options that the system refuses are named")
    func options() async {
        await #expect(processExitsWith: .success) {
            try withSockets(.system) { loop, server, _ in
                let (client, other) = try loop.connectedPair()
                var ends: [CInt] = [-1, -1]
                #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
                let unix = try UnixConnection(adopting: ends[0], on: loop)
                for call in [SYS_setsockopt, SYS_getsockopt] { try fail(call, ENOBUFS) }
                let ways: [(String, () throws -> Void)] = [
                    ("set option ENOBUFS \(server.localAddress): ", { try server.setTimeToLive(3) }),
                    ("read option ENOBUFS \(server.localAddress): ", { _ = try server.receiveBufferSize }),
                    ("keep-alive ENOBUFS", { try client.setKeepAlive(after: .seconds(1)) }),
                    ("keep-alive ENOBUFS", { try client.setKeepAlive(after: nil) }),
                    ("user timeout ENOBUFS", { try client.setUserTimeout(.seconds(1)) }),
                    ("peer credentials ENOBUFS: ", { _ = try unix.peerCredentials }),
                ]
                for (start, way) in ways {
                    let text = complaint(way)
                    #expect(text?.hasPrefix(start) == true, "\(text ?? start)")
                }
                for stream in [client, other, unix] { _ = loop.outcome(of: stream.abort()) }
                close(ends[1])
            }
        }
    }

    @Test("a socket that the system does not make, or does not let listen, is named, and leaves no file")
    func sockets() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let path = "/tmp/uvfutures-\(getpid()).\(UInt64.random(in: 0 ... .max))"
                try fail(SYS_listen, ENOBUFS)
                let unix = complaint { _ = try UnixListener(path: path, on: loop) }
                #expect(unix?.hasPrefix("listen ENOBUFS unix:\(path): ") == true, "\(unix ?? "")")
                #expect(unsafe access(path, F_OK) != 0)
                let tcp = complaint { _ = try TCPListener(host: "127.0.0.1", port: 0, on: loop) }
                #expect(tcp?.hasPrefix("listen ENOBUFS 127.0.0.1:0: ") == true, "\(tcp ?? "")")
                try fail(SYS_socket, ENFILE)
                let failure = loop.failure(of: TCPConnection.connect(host: "127.0.0.1", port: 9, on: loop))
                let text = failure.map { "\($0)" } ?? ""
                #expect(text.contains("connect ENFILE 127.0.0.1:9: "), "\(text)")
            }
        }
    }

    @Test("a system that lets nobody adopt orphans says so")
    func adoption() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try fail(SYS_prctl, EINVAL)
                #expect(
                    complaint { try ProcessSupervisor(on: loop).adoptOrphans() }?
                        .contains("adopt orphans EINVAL") == true)
            }
        }
    }

    @Test("a connection is reset, though the system cannot let go of its peer at once")
    func resets() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let (client, server) = try loop.connectedPair()
                try fail(SYS_connect, EINVAL)
                _ = loop.outcome(of: server.abort())
                #expect((loop.failure(of: client.read()) as? SystemError)?.code == .connectionReset)
                _ = loop.outcome(of: client.abort())
            }
        }
    }
}
