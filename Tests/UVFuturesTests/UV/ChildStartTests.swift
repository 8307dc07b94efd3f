import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// One after the other: the start of a program as another user changes for a moment whether the process can be dumped.
@Suite(.serialized)
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

extension ChildStartTests {
    @Test(
        "loops that start programs as other users at the same time leave the process as it was",
        .asRoot)
    func together() async {
        await #expect(processExitsWith: .success) {
            precondition(is_dumpable())
            let threads = DispatchGroup()
            for _ in 0..<4 {
                startThread(of: threads) {
                    try! withLoop { loop in
                        var configuration = ChildProcess.Configuration("true")
                        configuration.user = .init(id: 65_534, group: 65_533, supplementaryGroups: [])
                        for _ in 0..<25 {
                            let exit = try loop.exit(of: configuration)
                            precondition(exit.isSuccess)
                        }
                    }
                }
            }
            threads.wait()
            precondition(is_dumpable())
        }
    }

    @Test("the number of a child that is reaped after its loop has let go of it may stand for an orphan")
    func reapedLater() async {
        await #expect(processExitsWith: .success) {
            func start() throws -> StartedChild {
                let launch = try ChildProcess.Configuration("true").launch()
                var descriptors = ChildDescriptors()
                defer { descriptors.closeAll() }
                try descriptors.open(launch)
                let child = try ChildStart(launch, descriptors).run()
                var status: CInt = 0
                // Until it has ended.
                #expect(unsafe reap_process(WAIT_BY_ID, child.id, WNOWAIT, &status) > 0)
                return child
            }
            let (child, other) = (try OwnChildren.start(start), try start())
            // The other one is what is reaped, so the number now stands for a process that is not reaped.
            UnreapedProcesses.reap(child.id, other.descriptor)
            #expect(OwnChildren.orphans() == [])
            var status: CInt = 0
            #expect(unsafe reap_process(WAIT_BY_ID, child.id, WNOHANG, &status) < 0)
        }
    }

    @Test(
        "a program runs with the ids that it was given, all of them, or not at all",
        .asRoot)
    func ids() throws {
        try withLoop { loop throws in
            for (id, group, groups) in [(1, 2, [3, 4]), (65_534, 65_533, []), (0, 1, [1]), (7, 0, [0])]
                as [(UInt32, UInt32, [UInt32])]
            {
                var configuration = ChildProcess.Configuration("cat", "/proc/self/status")
                configuration.user = .init(id: id, group: group, supplementaryGroups: groups)
                let lines = try loop.lines(of: configuration)
                func numbers(_ name: String) -> [UInt32]? {
                    lines.first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
                        .split { $0 == " " || $0 == "\t" }.compactMap { UInt32($0) }
                }
                #expect(
                    numbers("Uid") == [id, id, id, id] && numbers("Gid") == [group, group, group, group])
                #expect(numbers("Groups") == groups)
            }
            // The system takes these, and changes nothing.
            for (step, change) in [
                ("user 4294967295", { $0.user = .max }), ("group 4294967295", { $0.group = .max }),
            ] as [(String, (inout ProcessLaunch) -> Void)] {
                var configuration = ChildProcess.Configuration("true")
                configuration.user = .init(id: 0, group: 0)
                var launch = try configuration.launch()
                change(&launch)
                #expect(
                    complaint { _ = try loop.system.startProcess(launch) }
                        == "cannot start true: its \(step) cannot be set: EPERM, operation not permitted; run with more "
                        + "rights, or leave the setting out")
            }
        }
    }
}

private func handler(of signal: CInt) -> UInt {
    var effect = sigaction()
    unsafe sigaction(signal, nil, &effect)
    return unsafe unsafeBitCast(effect.__sigaction_handler.sa_handler, to: UInt.self)
}
