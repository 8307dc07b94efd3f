internal import Dispatch
internal import Futures
internal import Synchronization

/// The driver of a virtual loop, and its system. The clock and the network belong to a simulation: of this loop alone,
/// or of a ``World``.
///
/// A standalone loop moves the clock in `run`, `advance` and `advanceWithoutRunning`. A world runs its loops by
/// `runOnce`.
final class VirtualDriver: LoopDriver {
    let simulation: Simulation
    unowned let host: SimulatedHost
    unowned var loop: LoopCore!

    /// The place of the loop in the schedule of its world. `nil` for a standalone loop.
    var slot: Int?
    private var alarm: (deadline: UInt64, keepsAlive: Bool)?
    private var isTurnRequested = false
    private var isNeeded = false
    private var isStopped = false
    /// The time by which code has moved the clock.
    private var pastByCode: UInt64 = 0
    /// The number of wake-ups by other threads since the clock last moved, or since the loop last had nothing to do.
    private var wakeUpsInARow = 0
    private let isWoken = Atomic(false)
    private let instant: BusyInstant
    /// The time at which `instant` began. Used only in a world.
    private var lastInstant = UInt64.max
    /// Signalled whenever `isWoken` becomes `true`.
    private let wakeUps = DispatchSemaphore(value: 0)

    /// The open handles. The first handle makes the driver retain its loop.
    private var handles: [UInt64: SimulatedHandle] = [:]
    private var retained: LoopCore?
    private var closing: [SimulatedHandle] = []
    var resolver: Any?
    var resident: AnyObject?
    weak var fileEventHub: AnyObject?
    private var isClosed = false
    private var closeHooks: [() -> Void] = []
    /// Whether its world is running the loop now.
    private var isServing = false

    init(_ simulation: Simulation, _ host: SimulatedHost, maxCallbacksPerInstant: Int) {
        self.simulation = simulation
        self.host = host
        instant = BusyInstant(limit: maxCallbacksPerInstant)
    }

    var now: UInt64 { simulation.now }

    func measuredIdleTime() -> UInt64 { now - pastByCode }

    func arm(deadline: UInt64?, keepsAlive: Bool) {
        alarm = deadline.map { ($0, keepsAlive) }
        if let slot, !host.standsStill { simulation.loops.setDeadline(deadline ?? .max, of: slot) }
    }

    func requestTurn() {
        isTurnRequested = true
        instant.callbackWasMade(on: loop)
        markReady()
    }

    func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        wakeUps.signal()
        simulation.hasWokenLoops.store(true, ordering: .releasing)
    }

    func keepAlive(_ isNeeded: Bool) { self.isNeeded = isNeeded }
    /// Does nothing: the main queue is served when the code that drives the loop awaits.
    func serveMainActor() {}

    // MARK: Running standalone

    /// Runs everything that is ready. When nothing is ready, moves the clock to the next deadline or event.
    func run() {
        if host.isInWorld, !loop.isShutDown {
            fatalError(
                "The loop of host \(host.name) was run by itself, but its world runs it. Call run(for:) of the world, "
                    + "and let the host's program return without running its loop.")
        }
        isStopped = false
        instant.begin(loop)
        while !isStopped {
            let isBusy = takeWhatIsDue()
            if isBusy, !isFlooded { continue }
            if let time = nextTime {
                goOn(to: time)
            } else if isBusy || host.serveLoops(besides: self) {
                continue
            } else if isNeeded {
                waitForWakeUp()
            } else {
                return
            }
        }
        // Like libuv, which finishes the iteration in which it is stopped.
        _ = endClosing()
    }

    func stop() { isStopped = true }

    func poll() { _ = takeWhatIsDue() }

    /// Moves the clock to `end`, from deadline to deadline.
    func advance(to end: UInt64) {
        instant.begin(loop)
        while true {
            if takeWhatIsDue(), !isFlooded { continue }
            let next = [alarm?.deadline, simulation.nextTime].compactMap { $0 }.min()
            guard let next, next <= end else { break }
            goOn(to: next)
        }
        simulation.now = max(end, now)
        wakeUpsInARow = 0
    }

    /// The time of the next deadline or event that keeps the loop alive. `nil` if there is none.
    private var nextTime: UInt64? {
        // The clock of a world does not move while the loop of a host ends.
        if host.isInWorld { return nil }
        guard let alarm, alarm.keepsAlive || simulation.nextTime != nil else { return simulation.nextTime }
        return min(alarm.deadline, simulation.nextTime ?? .max)
    }

    /// Whether other threads keep waking the loop. Then the clock moves although something is ready.
    private var isFlooded: Bool { wakeUpsInARow >= 1024 }

    private func goOn(to time: UInt64) {
        if time > now {
            simulation.now = time
            instant.begin(loop)
        }
        wakeUpsInARow = 0
        if let alarm, alarm.deadline <= now { fireAlarm() } else { _ = simulation.takeDue() }
    }

    /// Advances the clock without firing timers.
    func advanceWithoutRunning(by nanoseconds: UInt64) {
        let before = now
        simulation.now = before.addingSaturated(nanoseconds)
        pastByCode += now - before
        if nanoseconds > 0 { instant.begin(loop) }
    }

    /// Takes everything that is due now, in this order, each at most once: a wake-up, a requested turn, closing
    /// handles, an event of the simulation, the alarm. So none of them can starve the others. Returns `false` if
    /// nothing was due, or only an alarm that does not keep the loop alive.
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
        let closed = endClosing()
        let tookEvent = !host.isInWorld && simulation.takeDue()
        let tookAny = tookWakeUp || tookTurn || closed || tookEvent
        guard let alarm, alarm.deadline <= now else { return tookAny }
        fireAlarm()
        return tookAny || alarm.keepsAlive || isNeeded || isTurnRequested
    }

    private func waitForWakeUp() {
        let limit = DispatchTime.now() + .nanoseconds(Int(loop.patienceAtEnd.wholeNanoseconds!))
        if !loop.isShutDown || wakeUps.wait(timeout: limit) == .timedOut {
            loop.sayWhatIsAwaited()
            wakeUps.wait()
        }
        isWoken.store(false, ordering: .releasing)
        // Work from other threads does not count.
        instant.begin(loop)
        loop.wokenUp()
    }

    private func fireAlarm() {
        alarm = nil
        loop.timerFired()
    }

    // MARK: Running in a world

    /// Notifies the world that the loop has something to do.
    private func markReady() { if let slot { simulation.loops.markReady(slot) } }

    /// Notifies the world if the loop has been woken.
    func markIfWoken() { if isWoken.load(ordering: .acquiring) { markReady() } }

    /// Takes what is due now, once. The world calls this when the loop is ready.
    func runOnce() {
        let loop = loop!
        guard !host.standsStill, !loop.isShutDown else { return }
        if lastInstant != now {
            lastInstant = now
            instant.begin(loop)
        }
        serve { _ = takeWhatIsDue() }
        if isTurnRequested || !closing.isEmpty || alarm.map({ $0.deadline <= now }) ?? false { markReady() }
    }

    /// Whether `runOnce` would have something to do now.
    var canRun: Bool {
        !isServing && !loop.isShutDown
            && (isTurnRequested || !closing.isEmpty || isWoken.load(ordering: .acquiring))
    }

    /// Tells the world when the loop has something to do, after its host was paused or resumed.
    func pauseChanged() {
        guard let slot else { return }
        simulation.loops.setDeadline(host.isPaused ? .max : alarm?.deadline ?? .max, of: slot)
        markReady()
    }

    /// Calls `body` as part of the loop's run. A standalone loop is already running. The loop of a host is entered.
    func serve(_ body: () -> Void) {
        guard host.isInWorld else { return body() }
        isServing = true
        defer { isServing = false }
        try? loop.enter("run(for:)", body)
    }

    /// Calls `body` in a turn of the loop, in response to an event.
    func deliver(_ body: () -> Void) {
        guard !loop.isShutDown else { return }
        serve { loop.turn(body) }
    }

    // MARK: Handles

    func opened(_ handle: SimulatedHandle) {
        handles[handle.number] = handle
        if retained == nil { retained = loop }
        loop.count(handles: 1)
        if handle.isConnection { loop.count(connections: 1) }
        if handle.usesDescriptor { host.sockets.descriptors += 1 }
    }

    func closeLater(_ handle: SimulatedHandle) {
        closing.append(handle)
        markReady()
    }

    /// Finishes the handles that have been closed. Returns `false` if there are none.
    private func endClosing() -> Bool {
        guard !closing.isEmpty else { return false }
        for handle in exchange(&closing, with: []) { end(handle) }
        return true
    }

    private func end(_ handle: SimulatedHandle) {
        handles[handle.number] = nil
        loop.count(handles: -1)
        if handle.isConnection { loop.count(connections: -1) }
        if handle.usesDescriptor { host.sockets.descriptors -= 1 }
        loop.turn { handle.didClose() }
        if handles.isEmpty { retained = nil }
    }

    /// The open handles, oldest first.
    var openObjects: [SimulatedHandle] { handles.sorted { $0.key < $1.key }.map(\.value) }

    func closeHandles() {
        repeat {
            for handle in openObjects { handle.abort() }
        } while endClosing() && !handles.isEmpty
    }

    var openHandles: [String] {
        openObjects.reversed().map { $0.isClosing ? "\($0.line), closing" : $0.line }
    }

    func close(_ done: @escaping () -> Void) {
        alarm = nil
        withExtendedLifetime((resolver.take(), resident.take())) {}
        host.loopDidClose(self)
        done()
        isClosed = true
        for hook in exchange(&closeHooks, with: []) { hook() }
    }

    /// Calls `body` when the loop has been shut down.
    func whenEnded(_ body: @escaping () -> Void) { if isClosed { body() } else { closeHooks.append(body) } }

    func randomNumber() -> UInt64 { host.randomNumber() }
}
