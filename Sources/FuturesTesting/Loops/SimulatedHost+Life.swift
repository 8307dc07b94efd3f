public import Futures
public import SystemIO

extension SimulatedHost {
    /// The loop of the host, on which its program runs. A restarted host has a new loop.
    ///
    /// Traps while the host is down.
    public var loop: EventLoop {
        if let loop = loops.first { return loop }
        fatalError("The host \(name) was asked for its loop while it is down. Restart it first.")
    }

    /// Creates another loop on this host, for a program that uses several loops. The loops share the addresses, the
    /// ports, the standard streams and the limit of descriptors. A `TCPServerGroup` creates its own loops. Traps while
    /// the host is down.
    public func makeLoop() -> EventLoop {
        guard !isDown else {
            fatalError("The host \(name) was asked for another loop while it is down. Restart it first.")
        }
        let loop = makeLoop(maxCallbacksPerInstant: maxCallbacksPerInstant)
        loop.onUnhandledFailure = { [unowned self] in note("nobody handles a failure: \($0)") }
        loops.append(loop)
        return loop
    }

    /// Adds a line to the trace of the world, with the name of the host and `text`.
    public func note(_ text: @autoclosure () -> String) {
        simulation.trace.note("\(name) \(text())", at: simulation.now)
    }

    func start() {
        isDown = false
        isOff = false
        startCount += 1
        resetStandardPipes()
        let core = makeLoop().core
        refreshPaths()
        (core.driver as! VirtualDriver).deliver {
            do { try program(self) } catch { failed(error) }
        }
    }

    func failed(_ error: any Error) { world?.fail(error, of: "the program of host \(name)") }

    /// Crashes the host, as a loss of power does: its programs end at once. Its peers are not notified. After a
    /// restart, the host resets an old connection when something arrives on it.
    ///
    /// The futures of the host fail with ``Futures/FutureError/shutDown``. What the program does then does not reach
    /// any other host. A host that is down stays down. If a program of the world calls this function, the crash happens
    /// after that program has returned to its loop.
    public func crash() {
        later { $0.crashNow() }
    }

    private func crashNow() {
        guard !isDown else { return }
        note("crashes")
        isOff = true
        refreshPaths()
        for driver in drivers { for handle in driver.openObjects { handle.vanish() } }
        for other in simulation.hosts where other !== self {
            // Those of connections that the program has closed, too.
            for wire in simulation.routes.path(from: self, to: other).all { wire.fallSilent() }
        }
        disk.interrupt(losingPower: true)
        takeDown()
    }

    /// Kills the program, as the signal `SIGKILL` does. The system of the host keeps running, and closes the
    /// connections, so that the peers read the end of the stream or a reset.
    public func kill() {
        later { host in
            guard !host.isDown else { return }
            host.note("is killed")
            for driver in host.drivers { for handle in driver.openObjects { handle.end() } }
            host.disk.interrupt(losingPower: false)
            host.takeDown()
        }
    }

    /// Restarts the program on a new loop. A host that is not down crashes first.
    public func restart() {
        later { host in
            host.crashNow()
            host.note("restarts")
            host.start()
        }
    }

    /// Pauses the program until ``resume()``. The system of the host keeps running: it accepts connections into the
    /// backlog, and takes bytes while there is room.
    public func pause() {
        later { host in
            guard !host.isPaused, !host.isDown else { return }
            host.note("pauses")
            host.standsStill = true
            for driver in host.drivers { driver.pauseChanged() }
        }
    }

    /// Resumes a paused program. Its timers fire late.
    public func resume() {
        later { host in
            guard host.isPaused else { return }
            host.note("goes on")
            host.standsStill = false
            for driver in host.drivers { driver.pauseChanged() }
            for body in host.takePostponed() { body() }
        }
    }

    /// Sends a signal to the program. A signal that the program does not wait for ends it as ``kill()`` does, except
    /// for signals that have no effect by default.
    public func send(_ signal: ProcessSignal) {
        later { host in
            guard !host.isDown else { return }
            host.note("gets signal \(signal.rawValue)")
            let watches = host.drivers.flatMap(\.openObjects).compactMap { $0 as? SimulatedSignal }
                .filter { $0.signal == signal.rawValue && !$0.isClosing }
            if watches.isEmpty, signal != .windowChange { return host.kill() }
            for watch in watches { watch.whenAwake { watch.isDelivered() } }
        }
    }

    /// Calls `body` now or, while the world runs, in a separate event.
    private func later(_ body: @escaping (SimulatedHost) -> Void) {
        guard world?.isRunning == true else { return body(self) }
        simulation.call { [self] in body(self) }
    }

    private func takeDown() {
        isDown = true
        standsStill = false
        _ = takePostponed()
        for pipe in standardPipes { pipe.programHasEnded() }
        shutDown()
        sockets = SocketTable()
    }

    /// Shuts down all loops, the first one last: a task of the program may wait for the end of the others.
    private func shutDown() {
        for loop in loops.reversed() { loop.shutdown() }
        loops = []
    }

    /// Ends the host for good.
    func end() {
        isDown = true
        standsStill = false
        shutDown()
        disk.end()
        program = { _ in }
        programs = [:]
        _ = takePostponed()
    }

    private func refreshPaths() {
        for other in simulation.hosts where other !== self {
            for path in simulation.routes.paths(between: self, other) { path.refresh() }
        }
    }
}

extension SimulatedHost {
    /// The live objects on the loops of the host, one line each.
    var underWay: [String] {
        guard !isDown else { return ["\(name) is down"] }
        return loops.flatMap { $0.dump().split(separator: "\n").map { "\(name): \($0)" } }
    }
}
