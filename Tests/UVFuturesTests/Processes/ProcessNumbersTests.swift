import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Each number of a process, of its signals and of a supervisor is checked where it is given.
struct ProcessNumbersTests {
    @Test("numbers of processes, and of signals to and from them", arguments: TestNetwork.allCases)
    func processes(network: TestNetwork) throws {
        let loop = try network.makeLoop()
        loop.onUnhandledFailure = { _ in }
        defer { loop.shutdown() }
        if network == .virtual { loop.simulatedPrograms["sleep"] = { _ in loop.never() } }
        let child = try ChildProcess.start(.init("sleep", "1000"), on: loop)
        for signal in Int32.edges {
            let isSignal = (1...64).contains(signal)
            // Zero asks whether the process is there.
            let mayBeSent = isSignal || signal == 0
            #expect((complaint { try child.send(.init(rawValue: signal)) } == nil) == mayBeSent)
            if isSignal { continue }
            let text = "a signal must be from 1 to 64, not \(signal)"
            let wait = loop.signal(.init(rawValue: signal))
            #expect(wait.result.map { "\($0)" }?.contains(text) == true)
            let end = child.end(by: .init(rawValue: signal))
            #expect(end.result.map { "\($0)" }?.contains(text) == true)
            #expect(complaint { try child.send(.init(rawValue: signal)) } == (signal == 0 ? nil : text))
        }
        expectRefused("end", outside: Duration.zero...) { child.end(within: $0, by: .continue) }
        try child.send(.kill)
        _ = try loop.run(until: child.exit)
        func run(_ change: (inout ChildProcess.Configuration) -> Void) -> Future<ChildProcess.Outcome> {
            var configuration = ChildProcess.Configuration("none")
            change(&configuration)
            return ChildProcess.run(configuration, on: loop)
        }
        expectRefused("run", outside: 0...) { ChildProcess.run(.init("none"), limit: $0, on: loop) }
        expectRefused("timeout", outside: Duration.zero...) {
            ChildProcess.run(.init("none"), timeout: $0, on: loop)
        }
        expectRefused("fileMask", outside: 0...UInt32(0o777)) { mask in run { $0.fileMask = mask } }
        expectRefused("user", outside: 0...(UInt32.max - 1)) { id in
            run { $0.user = .init(id: id, group: 0) }
        }
        expectRefused("group", outside: 0...(UInt32.max - 1)) { id in
            run { $0.user = .init(id: 0, group: id) }
        }
        for resource in ChildProcess.Resource.allCases {
            #expect(run { $0.limits[resource] = .init(soft: .max, hard: 0) }.result != nil)
        }
    }

    @Test(
        "a supervisor's times and limits are in their range, and what it was refused leaves its programs alone"
    )
    func supervisors() throws {
        try withSupervisor { supervisor, loop, events in
            let child = try supervisor.add("a", .init("daemon"))
            let negative = Duration.edges.filter { $0 < .zero }
            for time in negative {
                for refused in [
                    supervisor.remove("a", within: time), supervisor.end(within: time),
                    supervisor.restart("a", within: time).asVoid(), supervisor.stop("a", within: time),
                    supervisor.drain(on: .terminate, within: time),
                ] {
                    let error = loop.failure(of: refused) as? FutureError
                    #expect(error.map { "\($0)" }?.contains("give zero or more") == true)
                }
            }
            #expect(supervisor.names == ["a"])
            guard case .running(let running) = supervisor.state(of: "a") else { throw FutureError.stalled }
            #expect(running === child)
            func add(_ change: (inout ProcessSupervisor.Restarts) -> Void) throws -> Future<Void> {
                var restarts = ProcessSupervisor.Restarts()
                change(&restarts)
                try supervisor.add("b", .init("daemon"), restarts: restarts)
                return try loop.run(until: supervisor.remove("b", within: .zero).map { loop.succeeded() })
            }
            expectRefused("limit", outside: 0...) { limit in try add { $0.limit = limit } }
            expectRefused("period", outside: Duration.nanoseconds(1)...) { time in
                try add { $0.period = time }
            }
            expectRefused("jitter", outside: 0.0...1.0) { jitter in try add { $0.backoff.jitter = jitter } }
            expectRefused("factor", outside: 1.0...Double.greatestFiniteMagnitude) { factor in
                try add { $0.backoff.factor = factor }
            }
            expectRefused("initial", outside: Duration.zero...) { time in
                try add { $0.backoff.initial = time }
            }
            expectRefused("maximum", outside: Duration.zero...) { time in
                try add { $0.backoff.maximum = time }
            }
            try loop.run(until: supervisor.end(within: .seconds(Int64.max)))
            _ = events()
        }
    }

    @Test("a supervisor beside a busy loop gives a program up after as many restarts as else")
    func busySupervisor() throws {
        try withSupervisor { supervisor, loop, events in
            var restarts = steady
            restarts.period = .seconds(60)
            try supervisor.add("a", .init("fail"), restarts: restarts)
            for _ in 0..<10 {
                loop.advanceWithoutRunning(by: .seconds(3))
                loop.advance(by: .zero)
                loop.advance(by: .milliseconds(10))
            }
            let told = events()
            #expect(told.filter { $0.contains("is started again") }.count == 3)
            #expect(told.last == "a is given up after 3 restarts")
        }
    }
}
