import Futures
import Testing

/// A monotonic clock does not go back, but those of some machines do.
struct LoopCoreTests {
    @Test("a clock that goes back fires nothing, and upsets nothing that is reckoned from it")
    func goesBack() {
        let driver = WanderingDriver()
        let loop = EventLoop(owning: LoopCore(driver: driver))
        driver.loop = loop
        var (fired, ticks, lags, slow) = (0, 0, [Duration](), [Duration]())
        loop.onSlowCallback(longerThan: .zero) { slow.append($0.duration) }
        loop.observe { if case .turnEnded(let duration, _, let lag) = $0 { lags += [duration, lag] } }
        loop.schedule(after: .seconds(10)) { fired += 1 }.future.ignoreFailure()
        let repetition = loop.repeat(every: .seconds(4)) { ticks += 1 }
        let iterator = loop.ticks(every: .seconds(4)).makeAsyncIterator()
        let before = loop.now

        for back in [UInt64(1), 5, 1000] {
            driver.now = WanderingDriver.start - back * 1_000_000_000
            #expect(loop.now == before)
            loop.submit { driver.now -= 1_000_000_000 }.ignoreFailure()
            _ = loop.failed(FutureError.stalled, of: Void.self)
            iterator.pull().ignoreFailure()
            loop.core.timerFired()
            driver.takeTurns()
        }
        #expect(fired == 0 && ticks == 0)
        #expect(lags.allSatisfy { $0 == .zero } && slow.isEmpty)
        #expect(loop.statistics.longestLag == .zero)

        driver.now = WanderingDriver.start + 10_000_000_000
        loop.core.timerFired()
        driver.takeTurns()
        #expect(fired == 1 && ticks == 1)
        #expect(loop.statistics.longestLag == .seconds(6))
        repetition.cancel()
        loop.shutdown()
    }

    @Test("a driver is told of the timer that is due first, and only when that changes")
    func alarms() {
        let driver = WanderingDriver()
        let loop = EventLoop(owning: LoopCore(driver: driver))
        driver.loop = loop
        func schedule(after seconds: Int, keepsLoopAlive: Bool = true) -> ScheduledTask<Void> {
            defer { driver.takeTurns() }
            return loop.schedule(after: .seconds(seconds), keepsLoopAlive: keepsLoopAlive) {}
        }
        func expectAlarms(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
            driver.takeTurns()
            #expect(driver.alarms == expected, sourceLocation: sourceLocation)
            driver.alarms = []
        }
        func turn() { loop.submit {}.ignoreFailure() }
        turn()
        driver.takeTurns()
        driver.alarms = []
        let second = schedule(after: 20, keepsLoopAlive: false)
        expectAlarms(["20 false"])
        turn()
        expectAlarms([])
        let third = schedule(after: 30)
        expectAlarms(["20 true"])
        let fourth = schedule(after: 40)
        expectAlarms([])
        let first = schedule(after: 10)
        expectAlarms(["10 true"])
        fourth.cancel()
        turn()
        expectAlarms([])
        first.cancel()
        turn()
        expectAlarms(["20 true"])
        third.cancel()
        turn()
        expectAlarms(["20 false"])
        driver.now += 20_000_000_000
        loop.core.timerFired()
        expectAlarms(["nil false"])
        #expect(second.future.isSuccess)
        loop.shutdown()
    }
}

/// Does what it is told, by a clock that goes where it is put.
private final class WanderingDriver: LoopDriver {
    static let start: UInt64 = 2_000_000_000_000

    var now = WanderingDriver.start
    /// In how many seconds after the start the loop wants to hear of its timers, and whether they keep it alive.
    var alarms: [String] = []
    unowned var loop: EventLoop!
    private var isTurnRequested = false

    func takeTurns() {
        while isTurnRequested {
            isTurnRequested = false
            loop.core.requestedTurn()
        }
    }

    func requestTurn() { isTurnRequested = true }
    func measuredIdleTime() -> UInt64 { 0 }
    func arm(deadline: UInt64?, keepsAlive: Bool) {
        alarms.append("\(deadline.map { "\(($0 - Self.start) / 1_000_000_000)" } ?? "nil") \(keepsAlive)")
    }
    func wake() {}
    func keepAlive(_ isNeeded: Bool) {}
    func serveMainActor() {}
    func run() {}
    func stop() {}
    func poll() {}
    func closeHandles() {}
    var openHandles: [String] { [] }
    func close(_ done: @escaping () -> Void) { done() }
}
