import CLibUV
import Foundation
import Glibc
import Testing

@testable import UVFutures

struct ChildStartTests {
    @Test("a program begins with signals as if nobody had touched them")
    func signals() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_IGN)
            signal(SIGUSR1) { _ in }
            var mask = sigset_t()
            unsafe sigfillset(&mask)
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
            try withLoop { loop throws in
                let lines = try loop.lines(of: .init("cat", "/proc/self/status")).filter {
                    ["SigBlk", "SigIgn", "SigCgt"].contains($0.prefix(6))
                }
                #expect(
                    lines.count == 3 && lines.allSatisfy { $0.hasSuffix("\t0000000000000000") }, "\(lines)")
            }
            var after = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
            #expect(unsafe sigismember(&after, SIGUSR2) == 1)
            #expect(handler(of: SIGHUP) == 1 && handler(of: SIGUSR1) > 1)
        }
    }

    @Test("a program runs as another user with its groups, and the parent stays who and what it is")
    func user() throws {
        try withLoop { loop throws in
            var configuration = shell("id -u; id -g; id -G")
            configuration.user = .init(id: 65_534, group: 65_533, supplementaryGroups: [65_533, 1234])
            guard geteuid() == 0 else {
                let error = complaint { _ = try ChildProcess.start(configuration, on: loop) }
                #expect(error?.contains("its supplementary groups cannot be set: EPERM") == true)
                return
            }
            #expect(is_dumpable())
            #expect(try loop.lines(of: configuration) == ["65534", "65533", "65533 1234"])
            #expect(geteuid() == 0)
            #expect(is_dumpable())
            // The directory is entered as that user.
            try withDirectory { directory throws in
                unsafe chmod(directory, 0o700)
                configuration.workingDirectory = directory
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }?
                        .contains("cannot be entered: EACCES") == true)
            }
        }
    }
}

private func handler(of signal: CInt) -> UInt {
    var effect = sigaction()
    unsafe sigaction(signal, nil, &effect)
    return unsafe unsafeBitCast(effect.__sigaction_handler.sa_handler, to: UInt.self)
}
