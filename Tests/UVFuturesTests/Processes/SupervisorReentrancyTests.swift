import Futures
import FuturesTesting
import Testing
import UVFutures

/// What code of users does with a supervisor that tells it of an event.
enum SupervisorDeed: String, CaseIterable, CustomTestStringConvertible {
    case end, remove, restart, addSame, addOther, removeAndAdd, silence

    var testDescription: String { rawValue }

    func callAsFunction(_ supervisor: ProcessSupervisor) {
        switch self {
        case .end: supervisor.end()
        case .remove: supervisor.remove("a").ignoreFailure()
        case .restart: supervisor.restart("a").ignoreFailure()
        case .addSame: _ = try? supervisor.add("a", .init("daemon"))
        case .addOther: _ = try? supervisor.add("b", .init("daemon"))
        case .removeAndAdd:
            supervisor.remove("a").ignoreFailure()
            _ = try? supervisor.add("a", .init("daemon"))
        case .silence: supervisor.onEvent = { _ in }
        }
    }
}

struct SupervisorReentrancyTests {
    private static let prefixes = [
        "a started", "a ended", "a is started again", "a was not started", "a is given up",
    ]

    @Test(
        "whatever is done when an event is told, no program runs on when the supervisor has ended",
        arguments: prefixes, SupervisorDeed.allCases)
    func told(prefix: String, deed: SupervisorDeed) throws {
        try withSupervisor { supervisor, loop, events in
            var log: [String] = []
            var children: [ChildProcess] = []
            var isDone = false
            supervisor.onEvent = { [unowned supervisor] event in
                log.append("\(event)")
                if case .started(_, let child) = event { children.append(child) }
                guard !isDone, "\(event)".hasPrefix(prefix) else { return }
                isDone = true
                deed(supervisor)
            }
            var restarts = steady
            restarts.limit = 2
            let first = try supervisor.add("a", .init("fail"), restarts: restarts)
            if prefix == "a was not started" { loop.simulatedPrograms["fail"] = nil }
            loop.advance(by: .seconds(30))
            #expect(isDone)
            let end = supervisor.end()
            loop.advance(by: .seconds(30))
            #expect(loop.outcome(of: end).isSuccess)
            #expect(supervisor.names == [])
            for child in children + [first] { #expect(child.exit.isCompleted) }
            if deed != .silence {
                #expect(
                    log.count { $0.contains(" started as ") } == log.count { $0.contains(" ended with ") })
            }
            let before = log.count
            loop.advance(by: .seconds(100))
            #expect(log.count == before)
        }
    }

    @Test("a supervisor that is ended when it tells of a start has ended when that program has")
    func endedAtStart() throws {
        try withSupervisor { supervisor, loop, _ in
            var order: [String] = []
            supervisor.onEvent = { [unowned supervisor] event in
                order.append("\(event)".replacing(#/ as process \d+/#, with: ""))
                if case .started = event { supervisor.end().whenSuccess { order.append("over") } }
            }
            let child = try supervisor.add("a", .init("daemon"))
            #expect(supervisor.names == ["a"] && !child.exit.isCompleted)
            loop.advance(by: .seconds(5))
            #expect(order == ["a started", "a ended with code 0", "over"])
        }
    }

    @Test("a program that cannot be started is in no list")
    func notAdded() throws {
        try withSupervisor { supervisor, loop, events in
            #expect(throws: ProcessError.self) { try supervisor.add("a", .init("none")) }
            #expect(supervisor.names == [] && supervisor.state(of: "a") == nil && events() == [])
        }
    }
}
