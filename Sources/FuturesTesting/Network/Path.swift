internal import Futures

/// One direction of the way between two hosts, or the way of a host to itself.
final class Path {
    enum State { case open, cut, held }

    private(set) var state = State.open
    /// Whether messages are lost, and whether they are held, because a program or a fault asked for it.
    var isCut = false { didSet { refresh() } }
    var isHeld = false { didSet { refresh() } }
    /// The faults that cut and hold the path, and those that slow it down.
    var faults = PathFaults() { didSet { refresh() } }
    /// The time that a message takes.
    var latency = World.Latency.none
    /// The number of bytes that pass in a second. `nil` if there is no limit.
    var bandwidth: Int?
    /// The time when the last message will have left.
    private var busyUntil: UInt64 = 0
    /// The wires of open connections along this path, by their numbers.
    private var wires: [UInt64: Wire] = [:]
    private unowned let from: SimulatedHost
    private unowned let to: SimulatedHost
    private let simulation: Simulation

    init(from: SimulatedHost, to: SimulatedHost) {
        self.from = from
        self.to = to
        simulation = from.simulation
        refresh()
    }

    var isOpen: Bool { state == .open }

    func add(_ wire: Wire) { wires[wire.number] = wire }
    func remove(_ wire: Wire) { wires[wire.number] = nil }

    /// Returns when a message that is sent now arrives.
    func arrival(ofBytes count: Int) -> UInt64 {
        var start = simulation.now
        if let bandwidth {
            start = max(start, busyUntil)
                .addingSaturated(UInt64(Double(count) / Double(bandwidth) * 1e9))
            busyUntil = start
        }
        let time = latency.draw(&simulation.choices).addingSaturated(faults.delay)
        return start.addingSaturated(time)
    }

    /// Finds the state again, because something that decides it has changed.
    func refresh() {
        let before = state
        state =
            isCut || faults.cuts > 0 || from.isOff || to.isOff
            ? .cut : isHeld || faults.holds > 0 ? .held : .open
        guard state != before else { return }
        for wire in all { state == .open ? wire.pathIsOpen(after: before) : wire.pathIsBlocked() }
    }

    /// The wires, the oldest first.
    var all: [Wire] { wires.sorted { $0.key < $1.key }.map(\.value) }
}

/// The effects of the faults that last, on a path.
struct PathFaults {
    var cuts = 0
    var holds = 0
    /// The time that each message takes in addition, in nanoseconds.
    var delay: UInt64 = 0
}

extension Path: CustomStringConvertible {
    /// The two hosts, as in `a → b`.
    var description: String { "\(from.name) → \(to.name)" }
}
