import Foundation
import Glibc
import TestSupport
import Testing
import UVFutures

/// A program that leads a group, and what it does to outlive a request to end.
enum GroupLeader: String, CaseIterable, CustomTestStringConvertible {
    case endsFirst, endsLast, stopped, hasStopped, ignoresTerm, outlivedByDeaf, forksTwice

    var testDescription: String { rawValue }

    /// A configuration that leads a group with a member that runs for `seconds`. It writes the number of the group to
    /// `file` when all of it runs.
    func configuration(_ file: String, seconds: String = "1000") -> ChildProcess.Configuration {
        let sleep = "sleep \(seconds) >/dev/null 2>&1"
        let ready = "echo $$ > \(file).new; mv \(file).new \(file)"
        let script =
            switch self {
            case .endsFirst: "\(sleep) & \(ready); exit 3"
            case .endsLast: "trap 'wait; exit 3' TERM; \(sleep) & \(ready); wait; exit 3"
            case .stopped: "\(sleep) & \(ready); kill -STOP $$; exit 3"
            case .hasStopped: "\(sleep) & kill -STOP $!; \(ready); wait; exit 3"
            case .ignoresTerm: "trap '' TERM; \(sleep) & \(ready); wait; exit 3"
            case .outlivedByDeaf: "trap '' TERM; \(sleep) & \(ready); exit 3"
            case .forksTwice: "(\(sleep) & \(sleep) &) & \(sleep) & \(ready); exit 3"
            }
        var configuration = shell(script)
        configuration.group = .newGroup
        return configuration
    }

    /// Whether a process of the group does not end at a request, but only when the grace has passed.
    var isDeaf: Bool { self == .ignoresTerm || self == .outlivedByDeaf }

    /// Whether the group ends by itself, when its members have slept.
    var endsAlone: Bool { self != .stopped && self != .hasStopped }
}

/// A way in which a group comes to its end.
enum GroupWay: String, CaseIterable, CustomTestStringConvertible {
    case run, drop, end, cancel, timeLimit, shutdown, pipeline, pipelineFirst, supervisor, remove, restart

    var testDescription: String { rawValue }

    /// Whether the group has the grace of 5 s that cannot be chosen.
    var isPatient: Bool {
        switch self {
        case .cancel, .timeLimit, .pipeline, .pipelineFirst: true
        default: false
        }
    }

    /// Whether nobody asks the group to end.
    var waits: Bool { self == .run || self == .drop }

    /// Ends the group that `leader` makes on `loop`, or waits for its end.
    func end(_ leader: GroupLeader, _ file: String, on loop: EventLoop) throws {
        let grace: Duration = .milliseconds(100)
        let configuration = leader.configuration(file, seconds: waits ? "0.2" : "1000")
        func ran(
            _ pipeline: [ChildProcess.Configuration], timeout: Duration? = nil
        ) -> Future<ChildProcess.Outcome> {
            ChildProcess.run(pipeline: pipeline, timeout: timeout, on: loop)
        }
        func cancelled(_ pipeline: [ChildProcess.Configuration]) throws {
            let run = ran(pipeline)
            try loop.runUntil { contents(file) != nil }
            try loop.run(for: .milliseconds(20))
            #expect(!run.isCompleted)
            run.cancel()
            #expect(loop.outcome(of: run).isCancellation)
        }
        func supervised(_ end: (ProcessSupervisor) throws -> Void) throws {
            let supervisor = ProcessSupervisor(on: loop)
            supervisor.onEvent = { _ in }
            var restarts = ProcessSupervisor.Restarts()
            restarts.limit = 0
            try supervisor.add("a", configuration, restarts: restarts)
            try loop.runUntil { contents(file) != nil }
            try loop.run(for: .milliseconds(5))
            try end(supervisor)
        }
        switch self {
        case .run:
            let outcome = try loop.run(until: ran([configuration]))
            #expect(outcome.exit == .code(3))
        case .drop:
            _ = try ChildProcess.start(configuration, on: loop)
            try loop.run()
        case .end:
            let child = try ChildProcess.start(configuration, on: loop)
            try loop.runUntil { contents(file) != nil }
            try loop.run(for: .milliseconds(20))
            let exit = try loop.run(until: child.end(within: grace))
            #expect(try child.exit.result?.get() == exit)
            #expect(try !child.send(.user1, toGroup: true))
        case .cancel: try cancelled([configuration])
        case .timeLimit:
            let limit: Duration = .milliseconds(400)
            let failure = loop.failure(of: ran([configuration], timeout: limit))
            #expect(failure as? FutureError == .timedOut(after: limit))
        case .shutdown:
            _ = try ChildProcess.start(configuration, on: loop)
            try loop.runUntil { contents(file) != nil }
            try loop.run(for: .milliseconds(20))
            loop.shutdown()
        case .pipeline: try cancelled([shell("exit 0"), configuration])
        case .pipelineFirst: try cancelled([configuration, .init("sleep", "1000")])
        case .supervisor: try supervised { try loop.run(until: $0.end(within: grace)) }
        case .remove: try supervised { try loop.run(until: $0.remove("a", within: grace)) }
        case .restart:
            try supervised { supervisor in
                let next = supervisor.restart("a", with: .init("sleep", "1000"), within: grace)
                _ = try loop.run(until: next)
                #expect(living(in: file).isEmpty)
                try loop.run(until: supervisor.end())
            }
        }
    }
}

/// The processes that have not ended of the group whose number is in the file.
private func living(in file: String) -> [Int32] {
    let group = contents(file).flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.filter {
        getpgid($0) == group && state(of: $0).map { $0 != "Z" && $0 != "X" } == true
    }
}

/// Ends the group of `leader` in that way, and fails if any of it is left.
private func check(_ way: GroupWay, _ leader: GroupLeader) throws {
    guard leader.endsAlone || !way.waits else { return }
    // One of them stands for all that take so long.
    guard !leader.isDeaf || !way.isPatient || way == .cancel || isSoaking else { return }
    try withDirectory { directory in
        let (loop, file) = (try EventLoop(), "\(directory)/group")
        defer { loop.shutdown() }
        try way.end(leader, file, on: loop)
        // Nobody waits until the kernel has killed the group of a loop that is shut down.
        if way == .shutdown { #expect(eventually { living(in: file).isEmpty }, "\(way), \(leader)") }
        let left = living(in: file)
        #expect(left.isEmpty, "\(way), \(leader)")
        for process in left { kill(process, SIGKILL) }
        guard way != .shutdown else { return }
        try loop.run()
        #expect(loop.statistics.handles == 0 && loop.statistics.timers == 0, "\(way), \(leader)")
    }
}

/// Makes the system refuse, on this thread and in its children, what Linux knows since 6.9: a signal to the group of the
/// process that a descriptor stands for.
private func refuseSignalsToGroupsOfDescriptors() -> Bool {
    typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
    let control = unsafe unsafeBitCast(dlsym(nil, "prctl")!, to: Control.self)
    let (load, equal, end): (UInt64, UInt64, UInt64) = (0x20, 0x15, 0x06)
    // The number of the call pidfd_send_signal, and its fourth argument, PIDFD_SIGNAL_PROCESS_GROUP.
    let program: [UInt64] = [
        load, equal | 3 << 24 | 424 << 32, load | 40 << 32, equal | 1 << 24 | 4 << 32,
        end | (0x5_0000 | UInt64(EINVAL)) << 32, end | 0x7fff_0000 << 32,
    ]
    let (noNewPrivileges, setFilter, byProgram): (CInt, CInt, UInt) = (38, 22, 2)
    return unsafe program.withUnsafeBytes { program in
        let head = [UInt(program.count / 8), UInt(bitPattern: program.baseAddress!)]
        return unsafe head.withUnsafeBytes {
            control(noNewPrivileges, 1, 0, 0, 0) == 0
                && control(setFilter, byProgram, UInt(bitPattern: $0.baseAddress!), 0, 0) == 0
        }
    }
}

struct GroupTests {
    @Test(
        "after each way to end a group, none of its processes is left", arguments: GroupWay.allCases,
        GroupLeader.allCases)
    func nothingIsLeft(way: GroupWay, leader: GroupLeader) throws { try check(way, leader) }

    @Test("before Linux 6.9, a group is known by its leader, which is not reaped before the group has ended")
    func oldKernel() async {
        await #expect(processExitsWith: .success) {
            let hasFilter = refuseSignalsToGroupsOfDescriptors()
            #expect(hasFilter)
            let ways: [GroupWay] = [.run, .drop, .end, .shutdown, .supervisor]
            for way in ways { for leader in GroupLeader.allCases { try check(way, leader) } }
            try withLoop { loop throws in
                try withDirectory { directory in
                    let file = "\(directory)/group"
                    let child = try ChildProcess.start(GroupLeader.endsFirst.configuration(file), on: loop)
                    #expect(try loop.run(until: child.exit) == .code(3))
                    #expect(state(of: child.id) == "Z" && living(in: file).count == 1)
                    #expect(try loop.run(until: child.end()) == .code(3))
                    try loop.run()
                    #expect(state(of: child.id) == nil && living(in: file).isEmpty)
                }
            }
            #expect(eventually(hasNoChild))
        }
    }

    @Test("the exit of a program is known when it has ended, and its group can be signalled until that has")
    func afterLeader() throws {
        try withLoop { loop throws in
            try withDirectory { directory in
                let file = "\(directory)/group"
                let child = try ChildProcess.start(GroupLeader.endsFirst.configuration(file), on: loop)
                #expect(try loop.run(until: child.exit) == .code(3))
                #expect(try !child.send(.user1))
                #expect(living(in: file).count == 1)
                #expect(try child.send(.stop, toGroup: true))
                #expect(eventually { living(in: file).allSatisfy { state(of: $0) == "T" } })
                #expect(loop.statistics.handles == 1)
                #expect(
                    loop.dump().contains("handle: group of process \(child.id) (/bin/sh), which has ended"))
                #expect(try child.send(.kill, toGroup: true))
                // Who asks finds out before the loop does, which need not look any more then.
                #expect(eventually { (try? child.send(.user1, toGroup: true)) == false })
                #expect(loop.statistics.timers == 0)
                try loop.run()
                #expect(try !child.send(.user1, toGroup: true))
                #expect(living(in: file).isEmpty)
            }
        }
    }

    @Test("each process of a group has the grace to end by itself, also when its leader has ended")
    func grace() throws {
        try withLoop { loop throws in
            try withDirectory { directory in
                let tidy = "trap 'sleep 0.1; echo tidy > \(directory)/tidy; exit 0' TERM"
                var configuration = shell(
                    "trap 'exit 4' TERM; sh -c \"\(tidy); echo ready; while :; do sleep 0.01; done\" & wait")
                configuration.standardOutput = .stream
                configuration.group = .newGroup
                let child = try ChildProcess.start(configuration, on: loop)
                let output = child.standardOutput!
                _ = try loop.run(until: output.readLine())
                #expect(try loop.run(until: child.end(within: .seconds(30))) == .code(4))
                #expect(contents("\(directory)/tidy") == "tidy\n")
                try loop.run(until: output.close())
            }
        }
    }

    @Test("a process that makes a group or a session of its own no longer belongs to the group")
    func leavesGroup() throws {
        try withLoop { loop throws in
            var configuration = shell("setsid sleep 1000 >/dev/null 2>&1 & echo $!")
            configuration.standardOutput = .stream
            configuration.group = .newGroup
            let child = try ChildProcess.start(configuration, on: loop)
            let output = child.standardOutput!
            let number = try #require(
                try loop.run(until: output.readLine()).flatMap { Int32(String(decoding: $0, as: UTF8.self)) })
            #expect(eventually { getsid(number) == number })
            _ = try loop.run(until: child.end())
            try loop.run(until: output.close())
            try loop.run()
            #expect(state(of: number).map { $0 != "Z" } == true)
            kill(number, SIGKILL)
        }
    }
}
