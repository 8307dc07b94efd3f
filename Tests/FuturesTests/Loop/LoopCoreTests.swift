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
}

/// Does what it is told, by a clock that goes where it is put.
private final class WanderingDriver: LoopDriver {
    static let start: UInt64 = 2_000_000_000_000

    var now = WanderingDriver.start
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
    func arm(deadline: UInt64?, keepsAlive: Bool) {}
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
