internal import Futures

/// The retransmissions of bytes that were not acknowledged. Each pause is twice as long as the previous one.
final class Retransmission: SimulatedEvent {
    private static let firstPause: UInt64 = 200_000_000
    private static let longestPause: UInt64 = 120_000_000_000
    /// The time after which a system gives up, as Linux does after 15 retransmissions, in nanoseconds.
    private static let patience: UInt64 = 924_600_000_000

    private let wire: Wire
    private let simulation: Simulation
    private let end: UInt64
    private var pause = firstPause

    init(of wire: Wire, _ simulation: Simulation, within limit: UInt64?) {
        self.wire = wire
        self.simulation = simulation
        end = simulation.now.addingSaturated(limit ?? Self.patience)
    }

    func wait() {
        simulation.add(self, at: min(simulation.now + pause, end))
        pause = min(2 * pause, Self.longestPause)
    }

    func happen() {
        guard wire.isSendingAgain(by: self), !wire.sendAgain() else { return }
        if simulation.now >= end { wire.giveUp() } else { wait() }
    }
}
