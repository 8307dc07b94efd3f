internal import Futures
internal import SystemIO

/// An object that a program has open in a simulated system. It corresponds to a libuv handle.
class SimulatedHandle {
    final let driver: VirtualDriver
    final let number: UInt64
    private(set) final var isClosing = false

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

    /// Ends the handle without notifying the peer, because the host has crashed.
    func vanish() {}

    /// Calls `body` as soon as the host is not paused.
    final func whenAwake(_ body: @escaping () -> Void) {
        if host.isPaused { host.postpone(body) } else { body() }
    }

    /// A one-line description of the handle.
    var line: String { "handle" }

    func willClose() {}

    /// Called last, after the handle has been closed.
    func didClose() {}
}
