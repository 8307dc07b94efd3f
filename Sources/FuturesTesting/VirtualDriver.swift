internal import Dispatch
internal import Futures
internal import Synchronization

/// A driver without descriptors, whose clock moves only when somebody moves it. It schedules nothing itself.
final class VirtualDriver: LoopDriver {
    private(set) var now: UInt64 = 0
    private var alarm: (deadline: UInt64, keepsAlive: Bool)?
    private var isTurnRequested = false
    private var isNeeded = false
    private var isStopped = false
    private let isWoken = Atomic(false)
    /// Signalled whenever `isWoken` becomes `true`.
    private let wakeUps = DispatchSemaphore(value: 0)
    unowned var loop: EventLoop!

    func arm(deadline: UInt64?, keepsAlive: Bool) {
        alarm = deadline.map { ($0, keepsAlive) }
    }

    func requestTurn() { isTurnRequested = true }
    func wake() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { wakeUps.signal() }
    }
    func keepAlive(_ isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Runs what is ready, and, when nothing is, jumps to the next deadline.
    func run() {
        isStopped = false
        while !isStopped {
            if takeWhatIsDue() { continue }
            if let alarm, alarm.keepsAlive {
                now = max(now, alarm.deadline)
                fireAlarm()
            } else if isNeeded {
                waitForWakeUp()
            } else {
                return
            }
        }
    }

    func stop() { isStopped = true }

    func poll(blocking: Bool) {
        _ = takeWhatIsDue()
    }

    /// Moves the clock to `end`, from deadline to deadline.
    func advance(to end: UInt64) {
        while true {
            if takeWhatIsDue() { continue }
            guard let alarm, alarm.deadline <= end else { break }
            now = max(now, alarm.deadline)
            fireAlarm()
        }
        now = end
    }

    func closeHandles() {}
    func close() { alarm = nil }

    /// One of each that is due without the clock moving, so that none of them starves the others.
    private func takeWhatIsDue() -> Bool {
        let tookWakeUp = takeWakeUp()
        let tookTurn = takeTurn()
        guard let alarm, alarm.deadline <= now else { return tookWakeUp || tookTurn }
        fireAlarm()
        return true
    }

    private func takeTurn() -> Bool {
        guard isTurnRequested else { return false }
        isTurnRequested = false
        loop.turn()
        return true
    }

    private func takeWakeUp() -> Bool {
        guard isWoken.load(ordering: .acquiring) else { return false }
        waitForWakeUp()
        return true
    }

    private func waitForWakeUp() {
        wakeUps.wait()
        isWoken.store(false, ordering: .releasing)
        loop.wokenUp()
    }

    private func fireAlarm() {
        alarm = nil
        loop.timerFired()
    }
}
