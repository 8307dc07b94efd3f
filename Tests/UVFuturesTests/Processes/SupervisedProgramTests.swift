import Futures
import FuturesTesting
import Testing
import UVFutures

struct SupervisedProgramTests {
    @Test("a program that ends is started again, later each time, and given up when it ends too often")
    func backoff() throws {
        try withSupervisor { supervisor, loop, events in
            let process = try supervisor.add("a", .init("fail"), restarts: steady)
            #expect(events() == ["a started as process \(process.id)"])
            loop.advance(by: .milliseconds(10))
            #expect(events() == ["a ended with code 1", "a is started again after 1.0 seconds"])
            guard case .waiting = supervisor.state(of: "a") else { throw FutureError.stalled }
            loop.advance(by: .milliseconds(999))
            #expect(events() == [])
            loop.advance(by: .milliseconds(11))
            #expect(
                events() == [
                    "a started as process \(process.id + 1)", "a ended with code 1",
                    "a is started again after 2.0 seconds",
                ])
            loop.advance(by: .milliseconds(2010))
            #expect(events().last == "a is started again after 4.0 seconds")
            loop.advance(by: .milliseconds(4010))
            #expect(events().last == "a is given up after 3 restarts")
            loop.advance(by: .seconds(1000))
            #expect(events() == [])
            guard case .over = supervisor.state(of: "a") else { throw FutureError.stalled }
        }
    }

    @Test("restarts count only for the period, and none is needed after a success if that is said")
    func period() throws {
        try withSupervisor { supervisor, loop, events in
            var restarts = steady
            (restarts.limit, restarts.period) = (1, .milliseconds(500))
            try supervisor.add("a", .init("fail"), restarts: restarts)
            restarts.onlyAfterFailure = true
            try supervisor.add("b", .init("finish"), restarts: restarts)
            loop.advance(by: .seconds(20))
            let all = events()
            #expect(all.count { $0.hasPrefix("a started") } == 20)
            #expect(all.filter { $0.hasPrefix("b ") }.last == "b ended with code 0")
            _ = try loop.run(until: supervisor.end())
        }
    }

    @Test("a program that nobody hears of when it is given up is an unhandled failure")
    func unheard() throws {
        try withLoop(.virtual, ignoringUnhandled: true) { loop in
            var failures: [String] = []
            loop.onUnhandledFailure = { failures.append("\($0)") }
            loop.simulatedPrograms["fail"] = { _ in loop.succeeded(1) }
            var restarts = steady
            restarts.limit = 0
            try ProcessSupervisor(on: loop).add("a", .init("fail"), restarts: restarts)
            loop.advance(by: .seconds(1))
            #expect(failures == ["a has been restarted 0 times, and is given up"])
        }
    }

    @Test("a program that is added without a word is given up after five restarts in a minute")
    func defaults() throws {
        try withSupervisor { supervisor, loop, events in
            for name in ["fail", "finish"] { try supervisor.add(name, .init(name)) }
            loop.advance(by: .seconds(1000))
            let all = events()
            for name in ["fail", "finish"] {
                #expect(all.count { $0.hasPrefix("\(name) started") } == 6)
                #expect(all.last { $0.hasPrefix(name) } == "\(name) is given up after 5 restarts")
            }
            #expect(ProcessSupervisor.Restarts().period == .seconds(60))
        }
    }

    @Test("a restart counts until the period has passed, and then no more")
    func exactPeriod() throws {
        for (period, starts) in [(Duration.milliseconds(1010), 10), (.nanoseconds(1_010_000_001), 2)] {
            try withSupervisor { supervisor, loop, events in
                var restarts = ProcessSupervisor.Restarts()
                (restarts.limit, restarts.period, restarts.backoff) = (1, period, .constant(.seconds(1)))
                // It ends 10 ms after its start, and is started again a second later.
                try supervisor.add("a", .init("fail"), restarts: restarts)
                loop.advance(by: .milliseconds(9 * 1010 + 5))
                #expect(events().count { $0.hasPrefix("a started") } == starts, "\(period)")
            }
        }
    }

    @Test("a program that does not say otherwise has five seconds to end")
    func grace() throws {
        try withSupervisor { supervisor, loop, _ in
            loop.simulatedPrograms["deaf"] = { process in
                process.signal(.terminate).flatMap { loop.never() }
            }
            let child = try ChildProcess.start(.init("deaf"), on: loop)
            loop.advance(by: .milliseconds(1))
            let end = child.end()
            loop.advance(by: .nanoseconds(4_999_999_999))
            #expect(!end.isCompleted)
            loop.advance(by: .milliseconds(1))
            #expect(try end.result?.get() == .signal(.kill, coreDumped: false))
        }
    }
}
