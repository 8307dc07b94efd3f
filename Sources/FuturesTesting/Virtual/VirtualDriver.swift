internal import Dispatch
internal import Futures
internal import Synchronization

/// The driver of a virtual loop. It has no descriptors. Its clock moves only in `run`, `advance` and
/// `advanceWithoutRunning`.
final class VirtualDriver: LoopDriver {
    private(set) var now: UInt64 = 0
    private var alarm: (deadline: UInt64, keepsAlive: Bool)?
    private var isTurnRequested = false
    private var isNeeded = false
    private var isStopped = false
    /// The number of times that other threads have woken the driver since the clock moved, or since nothing
    /// was left to do.
    private var wakeUpsInARow = 0
    private let isWoken = Atomic(false)
    private var instant: BusyInstant
    /// Signalled whenever `isWoken` becomes `true`.
    private let wakeUps = DispatchSemaphore(value: 0)
    unowned var loop: LoopCore!

    init(maxCallbacksPerInstant: Int) { instant = BusyInstant(limit: maxCallbacksPerInstant) }

    func arm(deadline: UInt64?, keepsAlive: Bool) { alarm = deadline.map { ($0, keepsAlive) } }

    func requestTurn() {
        isTurnRequested = true
        instant.callbackWasMade(on: loop)
    }

    func wake() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { wakeUps.signal() }
    }
    func keepAlive(_ isNeeded: Bool) { self.isNeeded = isNeeded }
    /// Does nothing: the main queue is served when the code that drives the loop awaits.
    func serveMainActor() {}

    /// Runs what is ready. When nothing is ready, moves the clock to the next deadline.
    func run() {
        isStopped = false
        instant.begin(loop)
        while !isStopped {
            let isBusy = takeWhatIsDue()
            if isBusy, !isFlooded { continue }
            if let alarm, alarm.keepsAlive {
                goOn(to: alarm.deadline)
            } else if isBusy {
                continue
            } else if isNeeded {
                waitForWakeUp()
            } else {
                return
            }
        }
    }

    func stop() { isStopped = true }

    func poll() { _ = takeWhatIsDue() }

    /// Moves the clock to `end`, from deadline to deadline.
    func advance(to end: UInt64) {
        instant.begin(loop)
        while true {
            if takeWhatIsDue(), !isFlooded { continue }
            guard let alarm, alarm.deadline <= end else { break }
            goOn(to: alarm.deadline)
        }
        now = end
        wakeUpsInARow = 0
    }

    /// Whether other threads wake the loop again and again. Then the clock moves although something is ready.
    private var isFlooded: Bool { wakeUpsInARow >= 1024 }

    private func goOn(to deadline: UInt64) {
        if deadline > now {
            now = deadline
            instant.begin(loop)
        }
        wakeUpsInARow = 0
        fireAlarm()
    }

    /// Moves the clock on, but fires no timer.
    func advanceWithoutRunning(by nanoseconds: UInt64) {
        now = now.addingSaturated(nanoseconds)
        if nanoseconds > 0 { instant.begin(loop) }
    }

    func closeHandles() {}
    var openHandles: [String] { [] }
    func close(_ done: @escaping () -> Void) {
        alarm = nil
        done()
    }

    /// Takes what is due now: a wake-up, then a requested turn, then the alarm, each at most once. So none of
    /// them can keep the others waiting. Returns `false` if nothing was due, or only an alarm that does not
    /// keep the loop alive.
    private func takeWhatIsDue() -> Bool {
        instant.count(loop)
        let tookWakeUp = isWoken.load(ordering: .acquiring)
        if tookWakeUp { waitForWakeUp() }
        let tookTurn = isTurnRequested
        if tookTurn {
            isTurnRequested = false
            loop.requestedTurn()
        }
        if tookWakeUp { wakeUpsInARow += 1 } else if !tookTurn { wakeUpsInARow = 0 }
        guard let alarm, alarm.deadline <= now else { return tookWakeUp || tookTurn }
        fireAlarm()
        return tookWakeUp || tookTurn || alarm.keepsAlive || isNeeded || isTurnRequested
    }

    private func waitForWakeUp() {
        let limit = DispatchTime.now() + .nanoseconds(Int(loop.patienceAtEnd.wholeNanoseconds!))
        if !loop.isShutDown || wakeUps.wait(timeout: limit) == .timedOut {
            loop.sayWhatIsAwaited()
            wakeUps.wait()
        }
        isWoken.store(false, ordering: .releasing)
        // The work of other threads does not count.
        instant.begin(loop)
        loop.wokenUp()
    }

    private func fireAlarm() {
        alarm = nil
        loop.timerFired()
    }
}
