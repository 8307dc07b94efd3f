import Futures
import FuturesTesting
import Testing

struct LoopStatisticsTests {
    @Test("the statistics count what is alive", arguments: Driver.allCases)
    func statistics(driver: Driver) throws {
        try withLoop(driver) { loop in
            var promise: Promise<Int>? = loop.makePromise()
            var futures = [promise!.future.map { $0 }, loop.succeeded(1)]
            #expect(loop.statistics.futures == 3)
            #expect(loop.statistics.promises == 1)
            let timers = [loop.sleep(for: .seconds(1)), loop.sleep(for: .seconds(2))]
            #expect(loop.statistics.timers == 2)
            #expect(loop.statistics.futures == 5)
            #expect(loop.statistics.handles == 0 && loop.statistics.connections == 0)
            for timer in timers { timer.cancel() }
            #expect(loop.statistics.timers == 0)
            promise?.succeed(1)
            promise = nil
            #expect(loop.statistics.promises == 0)
            try settle(loop)
            futures.removeAll { $0.isCompleted }
            #expect(loop.statistics.futures == 2)
            let turns = loop.statistics.turns
            try settle(loop)
            #expect(loop.statistics.turns == turns + 1)
            withExtendedLifetime(timers) {}
        }
    }

    @Test("the ready queue is counted, and so is what turns run and how late timers are")
    func figures() throws {
        try withLoop(.virtual) { loop in
            let fresh = loop.statistics
            #expect(fresh.turns == 0 && fresh.callbacks == 0 && fresh.longestTurn == 0)
            #expect(
                fresh.toldFileChanges == 0 && fresh.mergedFileChanges == 0 && fresh.fileWatchOverflows == 0)
            #expect(fresh.wakeUps == 0 && fresh.lag == .zero && fresh.longestLag == .zero)
            for _ in 0..<10 { loop.submit {}.ignoreFailure() }
            #expect(loop.statistics.readyCallbacks == 10)
            loop.advance(by: .zero)
            let after = loop.statistics
            #expect(after.readyCallbacks == 0)
            #expect(after.callbacks == 10 && after.longestTurn == 10 && after.lag == .zero)
            loop.later {}
            loop.advance(by: .zero)
            #expect(loop.statistics.callbacks == 11 && loop.statistics.longestTurn == 10)
            loop.schedule(after: .milliseconds(1)) { loop.advanceWithoutRunning(by: .seconds(1)) }
            loop.sleep(for: .milliseconds(2)).ignoreFailure()
            loop.advance(by: .seconds(2))
            #expect(loop.statistics.lag == .milliseconds(999))
            loop.sleep(for: .milliseconds(2)).ignoreFailure()
            loop.advance(by: .seconds(2))
            #expect(loop.statistics.lag == .zero)
            #expect(loop.statistics.longestLag == .milliseconds(999))
        }
    }
}
