import Foundation
import Glibc
import TestSupport
import Testing
import UVFutures

/// The parent of each process that has not ended.
private func parents() -> [Int32: Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let numbers = all.compactMap { Int32($0) }
    return numbers.reduce(into: [:]) { parents, number in
        let fields = contents("/proc/\(number)/stat")?.split(separator: ")").last?.split(separator: " ")
        guard let fields, fields.count > 1, fields[0] != "Z", fields[0] != "X" else { return }
        parents[number] = Int32(fields[1])
    }
}

/// The processes that descend from this one, and have not ended.
private func descendants() -> [Int32] {
    let parents = parents()
    return parents.keys.filter { process in
        var ancestor = parents[process]
        while let next = ancestor, next != getpid() { ancestor = parents[next] }
        return ancestor != nil
    }
}

/// Runs `body` with a loop, with a supervisor that adopts orphans, and with the rule that a program is started once.
private func withAdopter(
    _ body: (EventLoop, ProcessSupervisor, ProcessSupervisor.Restarts) throws -> Void
) throws {
    try withLoop { loop in
        let supervisor = ProcessSupervisor(on: loop)
        try supervisor.adoptOrphans()
        supervisor.onEvent = { _ in }
        var once = ProcessSupervisor.Restarts()
        once.limit = 0
        try body(loop, supervisor, once)
    }
}

struct OrphansTests {
    @Test("what programs leave behind in sessions of their own ends with the supervisor that adopts it")
    func endsOrphans() async {
        await #expect(processExitsWith: .success) {
            try withAdopter { loop, supervisor, restarts in
                let left = [
                    "setsid sleep 1000", "setsid sh -c 'sleep 1000 & setsid sleep 1000 & exit 0'",
                    "setsid sh -c \"trap '' TERM; sleep 1000; sleep 1000\"",
                    "setsid sh -c 'kill -STOP $$; sleep 1000'",
                ]
                for (index, script) in left.enumerated() {
                    try supervisor.add("\(index)", shell("\(script) & exit 0"), restarts: restarts)
                }
                try supervisor.add("stays", .init("sleep", "1000"))
                try loop.runUntil {
                    descendants().count >= 6
                        && supervisor.names.allSatisfy {
                            $0 == "stays" || "\(supervisor.state(of: $0)!)" == "is over"
                        }
                }
                let start = loop.now
                try loop.run(until: supervisor.end(within: .milliseconds(300)))
                #expect(start.duration(to: loop.now) >= .milliseconds(300))
                #expect(descendants() == [])
                #expect(hasNoChild())
                try loop.run()
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("a second request to end leaves less time to what was left behind")
    func secondRequest() async {
        await #expect(processExitsWith: .success) {
            try withAdopter { loop, supervisor, restarts in
                let deaf = "setsid sh -c \"trap '' TERM; while :; do sleep 1000; done\""
                try supervisor.add("a", shell("\(deaf) & exit 0"), restarts: restarts)
                try loop.runUntil { descendants().count >= 2 && "\(supervisor.state(of: "a")!)" == "is over" }
                let end = supervisor.end(within: .seconds(1000))
                try loop.run(for: .milliseconds(50))
                #expect(!end.isCompleted && !descendants().isEmpty)
                supervisor.end(within: .zero)
                try loop.run(until: end)
                #expect(hasNoChild())
            }
        }
    }

    @Test("what was left behind is asked to end, also if it is stopped, unless there is no time for that")
    func asksFirst() async {
        await #expect(processExitsWith: .success) {
            for grace in [Duration.seconds(1000), .zero] {
                try withAdopter { loop, supervisor, restarts in
                    try withDirectory { directory in
                        let willing =
                            "setsid sh -c \"trap 'echo asked > \(directory)/asked; exit 0' TERM; "
                            + "echo ready > \(directory)/ready; while :; do sleep 0.01; done\""
                        let stopped = "setsid sh -c 'kill -STOP $$; sleep 1000'"
                        for (name, script) in [("a", willing), ("b", stopped)] {
                            try supervisor.add(name, shell("\(script) & exit 0"), restarts: restarts)
                        }
                        try loop.runUntil {
                            contents("\(directory)/ready") == "ready\n"
                                && descendants().contains { state(of: $0) == "T" }
                                && ["a", "b"].allSatisfy { "\(supervisor.state(of: $0)!)" == "is over" }
                        }
                        try loop.run(until: supervisor.end(within: grace))
                        #expect((contents("\(directory)/asked") == "asked\n") == (grace > .zero))
                        #expect(hasNoChild())
                        try loop.run()
                        #expect(loop.statistics.timers == 0 && loop.statistics.handles == 0)
                    }
                }
            }
        }
    }

    @Test("adopted processes are reaped when they end, and no child that the library has started")
    func reaps() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let supervisor = ProcessSupervisor(on: loop)
                try supervisor.adoptOrphans()
                supervisor.onEvent = { _ in }
                let script =
                    "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 0.01 & exit 0' & done; wait; exec sleep 1000"
                let process = try supervisor.add("a", shell(script))
                let others = loop.forEach(0..<100, maxConcurrent: 4) { number in
                    try ChildProcess.start(shell("exit \(number)"), on: loop).exit.map {
                        #expect($0 == .code(Int32(number)))
                    }
                }
                let thread = Thread {
                    let loop = try? EventLoop()
                    for number in 0..<100 {
                        let exit = try? loop?.exit(of: shell("exit \(number)"))
                        #expect(exit == .code(Int32(number)))
                    }
                    loop?.shutdown()
                }
                thread.start()
                try loop.run(until: others)
                try loop.runUntil { thread.isFinished && contents("/proc/\(process.id)/comm") == "sleep\n" }
                try loop.runUntil { zombies().isEmpty }
                #expect("\(supervisor.state(of: "a")!)" == "runs as process \(process.id)")
                try loop.run(until: supervisor.end())
                #expect(try process.exit.result?.get() == .signal(.terminate, coreDumped: false))
                #expect(hasNoChild())
            }
        }
    }

    @Test("one supervisor of a process adopts, and once")
    func once() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let first = ProcessSupervisor(on: loop)
                try first.adoptOrphans()
                let sentence =
                    "a supervisor of this process adopts its orphans already; call adoptOrphans() once, on "
                    + "one supervisor"
                for supervisor in [first, ProcessSupervisor(on: loop)] {
                    #expect(complaint { try supervisor.adoptOrphans() } == sentence)
                }
                try loop.run(until: first.end())
                #expect(throws: FutureError.shutDown) { try first.adoptOrphans() }
                try ProcessSupervisor(on: loop).adoptOrphans()
                // That one is gone, and has given up what it adopted.
                let last = ProcessSupervisor(on: loop)
                try last.adoptOrphans()
                try loop.run(until: last.end())
                try loop.run()
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("a supervisor that is dropped when it is about to look for orphans looks no more")
    func dropped() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                do {
                    let supervisor = ProcessSupervisor(on: loop)
                    try supervisor.adoptOrphans()
                    #expect(try loop.exit(of: .init("true")).isSuccess)
                    try loop.runUntil { loop.statistics.timers == 1 }
                    withExtendedLifetime(supervisor) {}
                }
                #expect(loop.statistics.timers == 0)
            }
        }
    }

    @Test("a supervisor of programs that fork, exit and hang, killed at random, leaves no process")
    func soak() async {
        await #expect(processExitsWith: .success) {
            try withAdopter { loop, supervisor, _ in
                var restarts = ProcessSupervisor.Restarts()
                (restarts.limit, restarts.backoff) = (1_000_000, .constant(.milliseconds(20)))
                let scripts = [
                    "sleep 0.05; exit 1", "sleep 1000 & exit 0", "trap '' TERM; sleep 1000; sleep 1000",
                    "setsid sleep 1000 & (sleep 1000 &); wait", "sleep 1000 & kill -STOP $$",
                    "sh -c 'sleep 0.1 & exec sleep 1000' & wait",
                ]
                let groups: [ChildProcess.Group] = [.inherited, .newGroup, .newSession]
                for number in 0..<(isSoaking ? 50 : 8) {
                    var configuration = shell(scripts[number % scripts.count])
                    configuration.group = groups[number / 2 % 3]
                    try supervisor.add("\(number)", configuration, restarts: restarts)
                }
                let killing = loop.repeat(every: .milliseconds(10)) {
                    if let process = descendants().randomElement() { kill(process, SIGKILL) }
                }
                try loop.run(for: isSoaking ? .seconds(120) : .seconds(1))
                killing.cancel()
                try loop.run(until: supervisor.end(within: .milliseconds(100)))
                let left = descendants()
                #expect(left == [])
                for process in left { kill(process, SIGKILL) }
                #expect(hasNoChild())
            }
        }
    }
}

/// The children of this process that have ended, and that nobody has reaped.
private func zombies() -> [Int32] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let children = tasks.flatMap { contents("/proc/self/task/\($0)/children")?.split(separator: " ") ?? [] }
    return children.compactMap { Int32($0) }.filter { state(of: $0) == "Z" }
}
