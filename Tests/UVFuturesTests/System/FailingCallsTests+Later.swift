import CHeap
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
