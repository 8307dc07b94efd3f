internal import Futures

/// An object that a program has open in a simulated system. It corresponds to a libuv handle.
class SimulatedHandle: SimulatedEvent {
    final let driver: VirtualDriver
    final let number: UInt64
    private(set) final var isClosing = false
    private final var isLookingAgain = false

    /// Creates a handle. A handle that is not `isOpen` belongs to the system until `open` is called.
    init(_ driver: VirtualDriver, isOpen: Bool = true) {
        self.driver = driver
        number = driver.simulation.nextNumber()
        if isOpen { open() }
    }

    /// Hands the handle to the program.
    final func open() { driver.opened(self) }

    final var loop: LoopCore { driver.loop }
    final var simulation: Simulation { driver.simulation }
    final var host: SimulatedHost { driver.host }

    /// Closes the handle. The loop calls `didClose` later. A second call does nothing.
    final func close() {
        guard !isClosing else { return }
        isClosing = true
        willClose()
        driver.closeLater(self)
    }

    /// Whether the handle counts as a connection in the loop's statistics.
    var isConnection: Bool { false }

    /// Whether the handle counts towards the host's limit of descriptors.
    var usesDescriptor: Bool { true }

    /// Closes the handle, because the loop is being shut down.
    func abort() { close() }

    /// Closes the handle, as the system does when the program has ended.
    func end() { abort() }

    /// Ends the handle without notifying the peer, because the host has crashed. By default the same as `end`, for handles
    /// that have no peer.
    func vanish() { end() }

    /// Calls `body` as soon as the host is not paused.
    final func whenAwake(_ body: @escaping () -> Void) {
        if host.isPaused { host.postpone(body) } else { body() }
    }

    /// Calls `body` in a separate event, in a turn of the loop. Does not call it if the handle has been closed by then.
    final func soon(after delay: Duration = .zero, _ body: @escaping () -> Void) {
        simulation.call(after: delay) { [self] in
            whenAwake { [self] in if !isClosing { driver.deliver(body) } }
        }
    }

    /// Calls `look` in a separate event. A second call before that does nothing.
    final func lookSoon() {
        guard !isLookingAgain else { return }
        isLookingAgain = true
        simulation.add(self, at: simulation.now)
    }

    final func happen() {
        guard !host.isPaused else { return host.postpone { [self] in happen() } }
        isLookingAgain = false
        if !isClosing { driver.serve(look) }
    }

    /// Looks at what has happened to the handle. Called outside a turn of the loop.
    func look() {}

    /// A one-line description of the handle.
    var line: String { "handle" }

    func willClose() {}

    /// Called last, after the handle has been closed.
    func didClose() {}
}
