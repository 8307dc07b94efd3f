import Futures
import FuturesTesting
import Testing
import UVFutures

struct ProcessSupervisorTests {
    @Test(
        "the programs end in the reverse order, each when the last has ended, and a second request is quicker"
    )
    func order() throws {
        try withSupervisor { supervisor, loop, events in
            for name in ["a", "b", "c"] { try supervisor.add(name, .init("daemon")) }
            #expect(supervisor.names == ["a", "b", "c"] && supervisor.loop === loop.core)
            loop.advance(by: .milliseconds(1))
            _ = events()
            let end = supervisor.end(within: .seconds(100))
            #expect(throws: FutureError.shutDown) { try supervisor.add("d", .init("daemon")) }
            loop.advance(by: .milliseconds(1500))
            #expect(events() == ["c ended with code 0"])
            supervisor.end(within: .zero)
            try loop.run(until: end)
            #expect(events() == ["b ended with signal 9", "a ended with signal 9"])
            #expect(supervisor.names == [])
        }
    }

    @Test("a restart ends the process and begins anew, with another configuration if there is one")
    func restart() throws {
        try withSupervisor { supervisor, loop, events in
            let process = try supervisor.add("a", .init("daemon"))
            loop.advance(by: .milliseconds(1))
            _ = events()
            let next = try loop.run(until: supervisor.restart("a", with: .init("daemon", "x")))
            #expect(events() == ["a ended with code 0", "a started as process \(process.id + 1)"])
            #expect(next.configuration.arguments == ["x"])
            loop.advance(by: .milliseconds(1))
            let error = loop.failure(of: supervisor.restart("a", with: .init("none")))
            #expect(error is ProcessError)
            guard case .over = supervisor.state(of: "a") else { throw FutureError.stalled }
            #expect(
                loop.failure(of: supervisor.restart("b")).map { "\($0)" }
                    == "there is no program called b; add it first")
            try loop.run(until: supervisor.remove("a"))
            #expect(supervisor.state(of: "a") == nil)
            #expect(loop.failure(of: supervisor.remove("a")) is FutureError)
        }
    }

    @Test("a program that is stopped keeps its place, and is started again when that is asked for")
    func stopAndStart() throws {
        try withSupervisor { supervisor, loop, events in
            let first = try supervisor.add("a", .init("daemon"))
            try supervisor.add("b", .init("daemon"))
            loop.advance(by: .milliseconds(1))
            #expect(try loop.run(until: supervisor.start("a")).id == first.id, "it runs already")
            _ = events()
            try loop.run(until: supervisor.stop("a"))
            loop.advance(by: .seconds(100))
            #expect(events() == ["a ended with code 0"])
            #expect("\(supervisor.state(of: "a")!)" == "is over" && supervisor.names == ["a", "b"])
            try loop.run(until: supervisor.stop("a"))
            let second = try loop.run(until: supervisor.start("a"))
            #expect(events() == ["a started as process \(second.id)"] && second.id != first.id)

            // While it ends, a start waits for the end, and has it as much time as the stop gave it.
            loop.advance(by: .milliseconds(1))
            let stop = supervisor.stop("a", within: .seconds(100))
            let third = supervisor.start("a")
            loop.advance(by: .milliseconds(990))
            #expect(!stop.isCompleted && !third.isCompleted)
            loop.advance(by: .milliseconds(20))
            #expect(stop.isCompleted && third.isCompleted)
            #expect(try events().last == "a started as process \(third.result!.get().id)")

            // The last word counts.
            loop.advance(by: .milliseconds(1))
            let restart = supervisor.restart("a")
            let last = supervisor.stop("a")
            #expect(
                loop.failure(of: restart).map { "\($0)" } == "a has been stopped meanwhile; start it again")
            #expect(last.isCompleted && events().last?.hasPrefix("a ended with ") == true)
            #expect(
                loop.failure(of: supervisor.start("c")).map { "\($0)" }
                    == "there is no program called c; add it first")
            #expect(loop.failure(of: supervisor.stop("c")) is FutureError)
        }
    }

    @Test("a start does not wait for the next restart, and begins to count anew")
    func startWhileWaiting() throws {
        try withSupervisor { supervisor, loop, events in
            try supervisor.add("a", .init("fail"), restarts: steady)
            loop.advance(by: .milliseconds(500))
            #expect(events().last == "a is started again after 1.0 seconds")
            let process = try loop.run(until: supervisor.start("a"))
            #expect(events() == ["a started as process \(process.id)"])
            loop.advance(by: .milliseconds(500))
            #expect(events().last == "a is started again after 1.0 seconds", "and not after 2")
        }
    }

    @Test("a program that is missing can be added, and is started when it is there")
    func addMissing() throws {
        try withSupervisor { supervisor, loop, events in
            #expect(throws: ProcessError.self) { try supervisor.add("a", .init("late")) }
            try supervisor.addStopped("a", .init("late"))
            #expect("\(supervisor.state(of: "a")!)" == "is over" && events() == [])
            #expect(loop.failure(of: supervisor.start("a")) is ProcessError)
            #expect(supervisor.names == ["a"] && events().allSatisfy { $0.hasPrefix("a was not started: ") })
            #expect {
                try supervisor.addStopped("a", .init("late"))
            } throws: {
                "\($0)" == "a program called a has been added already; give another name"
            }
            loop.simulatedPrograms["late"] = { _ in loop.succeeded(0, after: .seconds(1)) }
            let process = try loop.run(until: supervisor.start("a"))
            #expect(events() == ["a started as process \(process.id)"])
            try loop.run(until: supervisor.end())
            #expect(throws: FutureError.shutDown) { try supervisor.addStopped("b", .init("late")) }
        }
    }

    @Test(
        "a start that fails and whose future is dropped is an event, or else a failure that is not handled",
        arguments: [true, false], [true, false])
    func failedStart(restarts: Bool, hasHandler: Bool) throws {
        let loop = EventLoop.virtual()
        var failures: [any Error] = []
        loop.onUnhandledFailure = { failures.append($0) }
        let supervisor = ProcessSupervisor(on: loop)
        var events: [String] = []
        if hasHandler { supervisor.onEvent = { events.append("\($0)") } }
        try supervisor.addStopped("a", .init("late"))
        _ = restarts ? supervisor.restart("a") : supervisor.start("a")
        loop.advance(by: .seconds(1))
        #expect(failures.map { $0 is ProcessError } == (hasHandler ? [] : [true]))
        #expect(events.map { $0.hasPrefix("a was not started: ") } == (hasHandler ? [true] : []))
        loop.shutdown()
    }

    @Test(
        "restarts that are asked for while the program ends start it once, with the last configuration",
        arguments: 1...3)
    func restartsAtOnce(count: Int) throws {
        try withSupervisor { supervisor, loop, events in
            let process = try supervisor.add("a", .init("daemon"))
            loop.advance(by: .milliseconds(1))
            _ = events()
            let restarts = (1...count).map { supervisor.restart("a", with: .init("daemon", "\($0)")) }
            let last = supervisor.restart("a")
            // Who gives up waiting does not keep the others from their process.
            #expect(restarts.count == 1 || restarts[1].cancel())
            let next = try loop.run(until: last)
            #expect(try loop.run(until: restarts[0]) === next)
            #expect(next.configuration.arguments == ["\(count)"])
            loop.advance(by: .seconds(10))
            #expect(events() == ["a ended with code 0", "a started as process \(process.id + 1)"])
            #expect("\(supervisor.state(of: "a")!)" == "runs as process \(next.id)")
        }
    }

    @Test(
        "a restart and another end of the program leave no process that nobody knows",
        arguments: ["remove", "end"])
    func restartAndEnd(way: String) throws {
        try withSupervisor { supervisor, loop, events in
            try supervisor.add("a", .init("daemon"))
            loop.advance(by: .milliseconds(1))
            _ = events()
            let restart = supervisor.restart("a")
            let end = way == "remove" ? supervisor.remove("a") : supervisor.end()
            let failure = loop.failure(of: restart)
            #expect(
                way == "remove"
                    ? failure.map { "\($0)" } == "there is no program called a; add it first"
                    : failure as? FutureError == .shutDown)
            try loop.run(until: end)
            #expect(supervisor.names == [])
            // It was asked to end twice.
            #expect(events() == ["a ended with signal 15"])
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("a restart beats the wait for the next start")
    func restartWhileWaiting() throws {
        try withSupervisor { supervisor, loop, events in
            try supervisor.add("a", .init("finish"), restarts: steady)
            loop.advance(by: .milliseconds(11))
            #expect("\(supervisor.state(of: "a")!)" == "waits for its next start")
            _ = events()
            let process = try loop.run(until: supervisor.restart("a", with: .init("daemon")))
            loop.advance(by: .seconds(100))
            #expect(events() == ["a started as process \(process.id)"])
            loop.advance(by: .milliseconds(1))
            _ = try loop.run(until: supervisor.remove("a"))
        }
    }

    @Test("what makes no sense is refused")
    func nonsense() throws {
        try withSupervisor { supervisor, loop, _ in
            try supervisor.add("a", .init("daemon"))
            #expect(
                complaint { try supervisor.add("a", .init("daemon")) }
                    == "a program called a has been added already; give another name")
            var restarts = steady
            restarts.backoff.jitter = 3
            #expect(
                complaint { try supervisor.add("b", .init("daemon"), restarts: restarts) }
                    == "a jitter of 3.0 is out of range; give 0 to 1")
            restarts = steady
            restarts.limit = -1
            #expect(
                complaint { try supervisor.add("b", .init("daemon"), restarts: restarts) }
                    == "restarts.limit must be at least 0 and restarts.period positive, not -1 and 60.0 seconds"
            )
            #expect(throws: ProcessError.self) { try supervisor.add("b", .init("none")) }
            #expect(supervisor.names == ["a"])
            #expect(loop.failure(of: supervisor.drain(on: .kill)) is FutureError)
        }
    }

    @Test("a daemon that gets a signal ends its programs, and kills them at the second")
    func drain() throws {
        let world = World(seed: 17)
        defer { world.end() }
        for signals in 1...2 {
            var (isDone, events): (Bool, [String]) = (false, [])
            let host = try world.addHost("a\(signals)") { host in
                host.programs["slow"] = { process in
                    process.signal(.terminate).flatMap { host.loop.succeeded(0, after: .seconds(3)) }
                }
                let supervisor = ProcessSupervisor(on: host.loop)
                supervisor.onEvent = { events.append("\($0)") }
                try supervisor.add("slow", .init("slow"))
                supervisor.drain(on: .terminate).whenSuccess { isDone = true }
            }
            try world.run(for: .seconds(1))
            for _ in 0..<signals {
                host.send(.terminate)
                try world.run(for: .seconds(1))
            }
            #expect(isDone == (signals == 2))
            try world.run(for: .seconds(3))
            #expect(isDone)
            #expect(events.last == (signals == 2 ? "slow ended with signal 9" : "slow ended with code 0"))
        }
    }

    @Test("real programs are supervised, too")
    func real() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let supervisor = ProcessSupervisor(on: loop)
                var events: [String] = []
                supervisor.onEvent = { events.append("\($0)") }
                var restarts = ProcessSupervisor.Restarts()
                (restarts.limit, restarts.backoff) = (2, .constant(.zero))
                try supervisor.add("a", shell("exit 3"), restarts: restarts)
                try supervisor.add("b", .init("sleep", "1000"))
                try loop.runUntil { events.contains("a is given up after 2 restarts") }
                try loop.run(until: supervisor.end())
                #expect(events.count { $0 == "a ended with code 3" } == 3)
                #expect(events.last == "b ended with signal 15")
                #expect(hasNoChild())
            }
        }
    }
}
